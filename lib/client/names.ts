import { InvalidArgumentError } from "../app/manage/errors.ts";
import { type Instant, instant, isInstant, toIso } from "../core/instant.ts";
import { type OccurrenceKey, parseKey } from "../core/occurrence.ts";
import { shown } from "../core/validation.ts";

/** An occurrence as people name it, `<scheduleId>@<firing>`, or its key. */
export type OccurrenceName = string | OccurrenceKey;

/** An instant in UTC as people write it: seconds and milliseconds may be left out. */
const UTC_INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?Z$/;

/** The key behind a name; `2026-11-29T09:00Z` is the same firing as `2026-11-29T09:00:00.000Z`. Throws `InvalidArgumentError`. */
export function keyOf(name: OccurrenceName): OccurrenceKey {
  const key = typeof name === "string" ? parseKey(name) : name;
  if (key === undefined)
    throw new InvalidArgumentError(`occurrence must be named <scheduleId>@<firing>, got ${shown(name)}`);
  return { scheduleId: key.scheduleId, firing: canonicalFiring(key.firing) };
}

/** A firing as it stands in keys. Whatever is no instant in UTC is left alone: `manual#...` is a firing too. */
export function canonicalFiring(firing: string): string {
  const epochMs = UTC_INSTANT.test(firing) ? Date.parse(firing) : Number.NaN;
  return Number.isNaN(epochMs) ? firing : toIso(instant(epochMs));
}

/** An ISO date-time that says where it is: in UTC or with an offset. */
const PLACED = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)$/;

/** The instant that `value` names; throws `InvalidArgumentError` for what is none, or local to nobody knows where. */
export function instantOf(name: string, value: Date | string): Instant {
  const epochMs = value instanceof Date ? value.getTime() : PLACED.test(value) ? Date.parse(value) : Number.NaN;
  if (isInstant(epochMs)) return epochMs;
  throw new InvalidArgumentError(`${name} must be an ISO date-time in UTC or with an offset, got ${shown(value)}`);
}
