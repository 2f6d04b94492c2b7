// An independent oracle for firing times: it walks real time and asks Intl.DateTimeFormat what the clocks show. It shares no code with
// lib/core/firing, knows nothing of offsets, spans or calendars, and takes expressions as data rather than text.

/** One entry of a field: `from` to `to` by `step`; a star is the whole range. */
export interface Entry {
  readonly star: boolean;
  readonly from: number;
  readonly to: number;
  readonly step: number;
}

/** A cron expression as data. Weekdays are 0 (Sunday) to 6. */
export interface OracleCron {
  readonly seconds: readonly Entry[];
  readonly minutes: readonly Entry[];
  readonly hours: readonly Entry[];
  readonly monthDays: readonly Entry[];
  readonly months: readonly Entry[];
  readonly weekdays: readonly Entry[];
}

export interface OraclePolicy {
  readonly gap: "shift" | "skip";
  readonly repeated: "first" | "second" | "both";
}

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

const holds = (entries: readonly Entry[], value: number): boolean =>
  entries.some(({ from, to, step }) => value >= from && value <= to && (value - from) % step === 0);

const startsWithStar = (entries: readonly Entry[]): boolean => entries[0]?.star === true;

/** The default policy: neither minute nor hour begins with a star means a fixed time of day. */
export const defaultPolicy = (cron: OracleCron): OraclePolicy =>
  startsWithStar(cron.minutes) || startsWithStar(cron.hours)
    ? { gap: "skip", repeated: "both" }
    : { gap: "shift", repeated: "first" };

const formats = new Map<string, Intl.DateTimeFormat>();

/** What the clocks of a zone show at an instant, as milliseconds of a clock that runs without changes. */
export function wallClock(zone: string, at: number): number {
  let format = formats.get(zone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat("en-US", {
      timeZone: zone,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
    formats.set(zone, format);
  }
  const [month = 0, day = 0, year = 0, hour = 0, minute = 0, second = 0] = format
    .format(at)
    .split(/[^0-9]+/)
    .map(Number);
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

/** Whether the expression names this minute of the clocks, seconds aside. */
function matchesMinute(cron: OracleCron, wall: number): boolean {
  const date = new Date(wall);
  if (!holds(cron.minutes, date.getUTCMinutes()) || !holds(cron.hours, date.getUTCHours())) return false;
  if (!holds(cron.months, date.getUTCMonth() + 1)) return false;
  const byMonthDay = holds(cron.monthDays, date.getUTCDate());
  const byWeekday = holds(cron.weekdays, date.getUTCDay());
  const both = startsWithStar(cron.monthDays) || startsWithStar(cron.weekdays);
  return both ? byMonthDay && byWeekday : byMonthDay || byWeekday;
}

/** The wall-clock seconds of `[from, to)` that match, minute by minute. */
function matchingWalls(cron: OracleCron, from: number, to: number): number[] {
  const walls: number[] = [];
  for (let minute = Math.floor(from / MINUTE_MS) * MINUTE_MS; minute < to; minute += MINUTE_MS) {
    if (!matchesMinute(cron, minute)) continue;
    for (let second = 0; second < 60; second += 1) {
      const wall = minute + second * SECOND_MS;
      if (wall >= from && wall < to && holds(cron.seconds, second)) walls.push(wall);
    }
  }
  return walls;
}

interface Step {
  readonly at: number;
  readonly wall: number;
  /** What the clocks would show had they run evenly since the step before. */
  readonly gapFrom: number;
}

const STEPS_PER_BLOCK = 15;

/** Reads the clocks at every step; where they show that fifteen steps took just as long, the fourteen between are counted rather than asked. */
function walk(zone: string, start: number, end: number, stepMs: number): Step[] {
  const steps: Step[] = [];
  let expected = wallClock(zone, start);
  for (let block = start; block < end; block += STEPS_PER_BLOCK * stepMs) {
    const blockEnd = Math.min(end, block + STEPS_PER_BLOCK * stepMs);
    const wallAtStart = wallClock(zone, block);
    const even = wallClock(zone, blockEnd) - wallAtStart === blockEnd - block;
    for (let at = block; at < blockEnd; at += stepMs) {
      const wall = even ? wallAtStart + at - block : wallClock(zone, at);
      steps.push({ at, wall, gapFrom: expected });
      expected = wall + stepMs;
    }
  }
  return steps;
}

/** The longest repetition since 1970 is Casey's of 2010, three hours. */
const LOOK_AROUND_MS = 3 * HOUR_MS + MINUTE_MS;

/**
 * Every firing in `[from, to)`, whole minutes both. Real time is walked in steps of a minute (of a second where the clocks are not on
 * whole minutes); a step over which the clocks gained less or more than it took is a repetition or a gap.
 */
export function oracleFirings(
  cron: OracleCron,
  zone: string,
  policy: OraclePolicy,
  from: number,
  to: number,
): number[] {
  const stepMs = wallClock(zone, from) % MINUTE_MS === 0 ? MINUTE_MS : SECOND_MS;
  const drift = (at: number) => wallClock(zone, at) - at;
  const driftAt = drift(from);
  let changes = false;
  for (let at = from - LOOK_AROUND_MS; at <= to + LOOK_AROUND_MS; at += HOUR_MS) changes ||= drift(at) !== driftAt;
  const start = changes ? from - LOOK_AROUND_MS : from;
  const end = changes ? to + LOOK_AROUND_MS : to;

  const steps = walk(zone, start, end, stepMs);
  const shownAt = new Map<number, number[]>();
  for (const { at, wall } of steps) shownAt.set(wall, [...(shownAt.get(wall) ?? []), at]);

  const firings = new Set<number>();
  for (const { at, wall, gapFrom } of steps) {
    if (at < from || at >= to) continue;
    const gapMs = wall - gapFrom;
    if (gapMs > 0 && gapMs < 3 * HOUR_MS && policy.gap === "shift" && matchingWalls(cron, gapFrom, wall).length > 0)
      firings.add(at);
    const passes = shownAt.get(wall) ?? [];
    const chosen =
      policy.repeated === "both" ||
      passes.length === 1 ||
      (policy.repeated === "first" ? passes[0] : passes.at(-1)) === at;
    if (chosen) for (const match of matchingWalls(cron, wall, wall + stepMs)) firings.add(at + match - wall);
  }
  return [...firings].sort((a, b) => a - b);
}
