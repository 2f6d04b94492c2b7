import { DateTime } from "luxon";
import { type Instant, instant, plusMs } from "../instant.ts";
import { shown } from "../validation.ts";
import { FIRST_INSTANT, HORIZON, HORIZON_YEAR } from "./horizon.ts";
import type { DstPolicy, NominalFiring } from "./timing.ts";
import { CORRECTION_MS, localEnd, localStart, OFFSET_RANGE_MS, type Span, shows, spanAt } from "./zone.ts";

/** A date-time as written: the wall-clock time in milliseconds as if it were UTC, and the offset when one was given. */
interface WrittenTime {
  readonly localMs: number;
  readonly offsetMs?: number;
}

const SHAPE = /^(\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)(Z|[+-]\d\d:\d\d)?$/;
const MINUTE_MS = 60_000;
/** The furthest any zone is from UTC. */
const MAX_OFFSET_MINUTES = 14 * 60;

function readWritten(text: string): WrittenTime | undefined {
  const [, wall, zone] = SHAPE.exec(text) ?? [];
  // ISO 8601 lets 24:00 stand for the next day's midnight; in a schedule it is more likely a slip.
  if (wall === undefined || wall.includes("T24")) return undefined;
  const parsed = DateTime.fromISO(wall, { zone: "utc" });
  if (!parsed.isValid) return undefined;
  if (zone === undefined) return { localMs: parsed.toMillis() };
  if (zone === "Z") return { localMs: parsed.toMillis(), offsetMs: 0 };
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(4))];
  if (minutes > 59 || hours * 60 + minutes > MAX_OFFSET_MINUTES) return undefined;
  return { localMs: parsed.toMillis(), offsetMs: (zone.startsWith("-") ? -1 : 1) * (hours * 60 + minutes) * MINUTE_MS };
}

const withinHorizon = (at: number): boolean => at >= FIRST_INSTANT && at < HORIZON;

/** `startAt` and `endAt`: an instant, or the sentence about what it must be. */
export function parseInstant(text: string): Instant | string {
  const written = readWritten(text);
  if (written?.offsetMs === undefined)
    return `must be an ISO date-time with Z or an offset, such as 2026-11-29T09:00:00Z, got ${shown(text)}`;
  const at = written.localMs - written.offsetMs;
  return withinHorizon(at) ? instant(at) : `must be in the years 1 to ${HORIZON_YEAR}, got ${shown(text)}`;
}

/** The spans of a zone around a wall-clock time, oldest first. */
function spansAround(zone: string, local: number): readonly Span[] {
  const spans: Span[] = [];
  for (let at = local - OFFSET_RANGE_MS; at <= local + OFFSET_RANGE_MS; ) {
    const span = spanAt(zone, at);
    spans.push(span);
    at = span.end;
  }
  return spans;
}

/** The instants of one wall-clock time in a zone: none or the end of the gap inside a gap, the chosen passes where it repeats. */
function resolveLocal(zone: string, local: number, dst: DstPolicy): readonly NominalFiring[] {
  const spans = spansAround(zone, local);
  const passes = spans.filter((span) => shows(span, local)).map((span) => instant(local - span.offsetMs));
  const [first] = passes;
  const last = passes.at(-1);
  if (first === undefined || last === undefined) {
    const afterGap = spans.find((span) => local < localStart(span));
    const beforeGap = spans.findLast((span) => localEnd(span) <= local);
    if (afterGap === undefined || beforeGap === undefined || dst.gap === "skip") return [];
    const jumpMs = afterGap.offsetMs - beforeGap.offsetMs;
    return jumpMs < CORRECTION_MS ? [{ at: instant(afterGap.start), resolved: "gap" }] : [];
  }
  if (passes.length === 1) return [{ at: first }];
  switch (dst.repeated) {
    case "first":
      return [{ at: first, resolved: "repeated" }];
    case "second":
      return [{ at: last, resolved: "repeated" }];
    case "both":
      return passes.map((at) => ({ at, resolved: "repeated" }));
    default:
      return dst.repeated satisfies never;
  }
}

const AT_FORM = /^at\s*\((.*)\)$/is;

/** Reads `at`: its firings, never empty, or the sentence about what it must be. A time without offset is one of the zone's clocks. */
export function parseAt(rawText: string, zone: string, dst: DstPolicy): readonly NominalFiring[] | string {
  const text = rawText.trim();
  const inner = (AT_FORM.exec(text)?.[1] ?? text).trim();
  const written = readWritten(inner);
  if (written === undefined)
    return `must be an ISO date-time such as 2026-11-29T09:00:00, with Z or an offset or local in the time zone, got ${shown(rawText)}`;
  const firings =
    written.offsetMs === undefined
      ? resolveLocal(zone, written.localMs, dst)
      : [{ at: plusMs(instant(written.localMs), -written.offsetMs) }];
  if (firings.length === 0)
    return `must be a time that the clocks of ${zone} show (its gap is not shifted), got ${shown(rawText)}`;
  if (!firings.every(({ at }) => withinHorizon(at)))
    return `must be in the years 1 to ${HORIZON_YEAR}, got ${shown(rawText)}`;
  return firings;
}
