/** A point in time: whole milliseconds since the Unix epoch, UTC, negative before 1970. */
export type Instant = number & { readonly __brand: "Instant" };

/** ECMAScript's time range (ECMA-262, "Time Values and Time Range"): 100,000,000 days either side of the epoch. */
const MAX_EPOCH_MS = 8.64e15;

/** Whether `value` is an instant: a whole number in ECMAScript's time range. */
export const isInstant = (value: unknown): value is Instant =>
  Number.isInteger(value) && Math.abs(Number(value)) <= MAX_EPOCH_MS;

/** The instant `epochMs` milliseconds after the epoch. Throws `RangeError` unless it is a whole number in ECMAScript's time range. */
export function instant(epochMs: number): Instant {
  if (isInstant(epochMs)) return epochMs;
  throw new RangeError(`instant must be whole milliseconds within ${MAX_EPOCH_MS} of the epoch, got ${epochMs}`);
}

/** The end of time: everything falls due by then. */
export const LAST_INSTANT = instant(MAX_EPOCH_MS);

/** `at` moved by `ms` milliseconds, which may be negative and is rounded to a whole number. */
export const plusMs = (at: Instant, ms: number): Instant => instant(at + Math.round(ms));

/** `2026-11-29T09:00:00.000Z`: the form in which instants stand in keys, messages and output. */
export const toIso = (at: Instant): string => new Date(at).toISOString();

/** Reads what {@link toIso} writes, to the letter; `undefined` for anything else. */
export function fromIso(text: string): Instant | undefined {
  const epochMs = Date.parse(text);
  if (Number.isNaN(epochMs)) return undefined;
  const at = instant(epochMs);
  return toIso(at) === text ? at : undefined;
}

/** The later of two instants. */
export const later = (left: Instant, right: Instant): Instant => (left < right ? right : left);
