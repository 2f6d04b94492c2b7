import { BoundedCache } from "./bounded-cache.ts";

/** A stretch of time in which a zone's offset from UTC does not change: instants `[start, end)`, local = UTC + `offsetMs`. */
export interface Span {
  readonly start: number;
  readonly end: number;
  readonly offsetMs: number;
}

/** When the span's clocks begin, as a wall-clock time: milliseconds as if the local clock showed UTC. */
export const localStart = (span: Span): number => span.start + span.offsetMs;
/** The wall-clock time the span's clocks do not reach any more. */
export const localEnd = (span: Span): number => span.end + span.offsetMs;
/** Whether the span's clocks show a wall-clock time. */
export const shows = (span: Span, local: number): boolean => local >= localStart(span) && local < localEnd(span);

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** A clock moved forward by this much or more is a calendar correction, not daylight saving (ISC and Debian cron's rule): it adds no firing. */
export const CORRECTION_MS = 3 * HOUR_MS;
/** More than the distance between any two offsets (-12:00 to +14:00): no change of the clocks moves a wall-clock time further. */
export const OFFSET_RANGE_MS = 27 * HOUR_MS;
/**
 * How far apart the zone is asked for its offset. Two changes that cancel each other out between two probes would be missed: the
 * shortest such pair in tzdata 2025b is just under 4 days before 1970 (Freetown, 1939) and just under 7 days after (Gaza, Boa Vista).
 */
const PROBE_MS = 3 * DAY_MS;
/** Spans are found, kept and cut in pieces of this length; a cut has the same offset on both sides and disturbs nothing. */
const CHUNK_MS = 32 * PROBE_MS;
/** Pieces kept of one zone: 67 to 134 years, where the instants around now need a handful. */
const MAX_CHUNKS_PER_ZONE = 512;
/** There are about 600 names in all. */
const MAX_ZONES = 1_400;

const OFFSET_TEXT = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/;

/** UTC and `Etc/GMT+h`, `Etc/GMT-h` (the sign is the other way round): one span for all time, so nothing need be searched. */
const FIXED_ZONE = /^(?:UTC|Etc\/GMT([+-])(\d+))$/;
const ALL_TIME_MS = 8.64e15;

function fixedSpan(zone: string): Span | undefined {
  const match = FIXED_ZONE.exec(zone);
  if (match === null) return undefined;
  const [, sign, hours = "0"] = match;
  return { start: -ALL_TIME_MS, end: ALL_TIME_MS, offsetMs: (sign === "+" ? -1 : 1) * Number(hours) * HOUR_MS };
}

/** What is known of one zone. */
interface Zone {
  readonly name: string;
  readonly format: Intl.DateTimeFormat;
  readonly chunks: BoundedCache<number, readonly Span[]>;
  readonly fixed: Span | undefined;
}

const zones = new BoundedCache<string, Zone>(MAX_ZONES);

const zoneNamed = (name: string): Zone =>
  zones.get(name, () => ({
    name,
    format: new Intl.DateTimeFormat("en-US", { timeZone: name, timeZoneName: "longOffset", hour: "numeric" }),
    chunks: new BoundedCache(MAX_CHUNKS_PER_ZONE),
    fixed: fixedSpan(name),
  }));

/**
 * The zone's offset at an instant, in milliseconds, seconds of local mean time included. `Intl` is asked for `longOffset`: it takes
 * about 2 us where luxon, which formats and re-reads a whole date, takes 14. Throws `RangeError` for a zone `Intl` does not know.
 */
function offsetAt({ name, format }: Zone, at: number): number {
  const text = format.format(at);
  const match = OFFSET_TEXT.exec(text);
  if (match === null) throw new Error(`offset of ${name} must read GMT+hh:mm, got "${text}"`);
  const [, sign, hours = "0", minutes = "0", seconds = "0"] = match;
  const ms = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000;
  return sign === "-" ? -ms : ms;
}

/** The first whole second in `(low, high]` at which the offset is no longer the one at `low`. */
function firstChange(zone: Zone, low: number, high: number, offsetMs: number): number {
  let same = low;
  let other = high;
  while (other - same > 1000) {
    const middle = same + Math.floor((other - same) / 2000) * 1000;
    if (offsetAt(zone, middle) === offsetMs) same = middle;
    else other = middle;
  }
  return other;
}

function findSpans(zone: Zone, chunkStart: number): readonly Span[] {
  const spans: Span[] = [];
  const chunkEnd = chunkStart + CHUNK_MS;
  let start = chunkStart;
  let probe = chunkStart;
  let offsetMs = offsetAt(zone, chunkStart);
  while (probe < chunkEnd) {
    const next = Math.min(probe + PROBE_MS, chunkEnd);
    if (offsetAt(zone, next) === offsetMs) {
      probe = next;
      continue;
    }
    const change = firstChange(zone, probe, next, offsetMs);
    if (change === chunkEnd) break;
    spans.push({ start, end: change, offsetMs });
    start = change;
    probe = change;
    offsetMs = offsetAt(zone, change);
  }
  spans.push({ start, end: chunkEnd, offsetMs });
  return spans;
}

/** The span of `zone` (a canonical name) that holds the instant `at`, in epoch milliseconds. Throws `RangeError` for a zone `Intl` does not know. */
export function spanAt(zone: string, at: number): Span {
  const known = zoneNamed(zone);
  if (known.fixed !== undefined) return known.fixed;
  const index = Math.floor(at / CHUNK_MS);
  const spans = known.chunks.get(index, () => findSpans(known, index * CHUNK_MS));
  const found = spans.find((span) => at < span.end);
  if (found === undefined) throw new Error(`spans of ${zone} must cover ${at}`);
  return found;
}
