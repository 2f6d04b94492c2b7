import { type Instant, instant, plusMs } from "../instant.ts";
import { BoundedCache } from "./bounded-cache.ts";
import type { Calendar } from "./calendar.ts";
import { hashFraction } from "./hash.ts";
import { countOfRate, nextOfRate } from "./rate.ts";
import { nextOfCalendar } from "./steps.ts";
import type { CronTiming, Firing, NominalFiring, Timing } from "./timing.ts";

type Step = { readonly next: NominalFiring | undefined };

/** Steps remembered for one calendar (expression, zone and policy): what all its schedules ask around one instant, and the next. */
const MAX_STEPS_PER_CALENDAR = 64;
/** Calendars go with the cache that holds them, and their steps with them. */
const memo = new WeakMap<Calendar, BoundedCache<number, Step>>();

function memoisedStep(calendar: Calendar, after: Instant): NominalFiring | undefined {
  let steps = memo.get(calendar);
  if (steps === undefined) {
    steps = new BoundedCache(MAX_STEPS_PER_CALENDAR);
    memo.set(calendar, steps);
  }
  return steps.get(after, () => ({ next: nextOfCalendar(calendar, after) })).next;
}

/** The next nominal firing strictly after `after`, as if there were no window. */
function unbounded(timing: Timing, after: Instant): NominalFiring | undefined {
  switch (timing.kind) {
    case "cron":
      return memoisedStep(timing.calendar, after);
    case "rate":
      return nextOfRate(timing, after);
    case "at":
      return timing.firings.find(({ at }) => at > after);
    default:
      return timing satisfies never;
  }
}

/** `after`, or the last instant before the window if that is later. */
const clampAfter = ({ startAt }: Timing, after: Instant): Instant =>
  startAt === undefined || after >= startAt ? after : plusMs(startAt, -1);

function nominal(timing: Timing, after: Instant): NominalFiring | undefined {
  const found = unbounded(timing, clampAfter(timing, after));
  return found === undefined || (timing.endAt !== undefined && found.at > timing.endAt) ? undefined : found;
}

/**
 * When a firing falls due: the nominal instant and a part of the jitter, chosen by a hash of schedule and instant. The span it is chosen
 * from ends before the next nominal firing, so a schedule's firings keep their order and none reaches its successor's instant.
 */
function dueAt(timing: Timing, at: Instant): Instant {
  if (timing.jitterMs === 0) return at;
  const next = unbounded(timing, at);
  const spreadMs = next === undefined ? timing.jitterMs : Math.min(timing.jitterMs, next.at - at - 1);
  return plusMs(at, Math.floor(hashFraction(`${timing.scheduleId}\n${at}`) * (spreadMs + 1)));
}

function toFiring(timing: Timing, { at, resolved }: NominalFiring): Firing {
  return resolved === undefined
    ? { scheduledFor: at, dueAt: dueAt(timing, at) }
    : { scheduledFor: at, dueAt: dueAt(timing, at), resolved };
}

/** The first firing strictly later than `after`; `undefined` when there is none within window and horizon. */
export function nextFiring(timing: Timing, after: Instant): Firing | undefined {
  const found = nominal(timing, after);
  return found === undefined ? undefined : toFiring(timing, found);
}

/** The firing whose nominal instant is exactly `at`, if there is one. */
export function firesAt(timing: Timing, at: Instant): Firing | undefined {
  const found = nominal(timing, plusMs(at, -1));
  return found?.at === at ? toFiring(timing, found) : undefined;
}

/** The firings in `[from, to)`, at most `limit`, oldest first. */
export function firingsBetween(timing: Timing, from: Instant, to: Instant, limit: number): readonly Firing[] {
  const firings: Firing[] = [];
  let after = plusMs(from, -1);
  while (firings.length < limit) {
    const found = nominal(timing, after);
    if (found === undefined || found.at >= to) break;
    firings.push(toFiring(timing, found));
    after = found.at;
  }
  return firings;
}

const FIRST_WINDOW_MS = 64_000;
const WINDOW_GROWTH = 8;

/**
 * The latest firing in `(after, upTo]`. Never steps backwards: it steps forward from windows before `upTo` that grow until one holds a
 * firing, then halves that window until nothing is left between the firing found and `upTo`. At most about 60 steps, whatever the range.
 */
export function latestFiring(timing: Timing, after: Instant, upTo: Instant): Firing | undefined {
  const nextUpTo = (low: Instant): NominalFiring | undefined => {
    const found = nominal(timing, low);
    return found === undefined || found.at > upTo ? undefined : found;
  };
  let best: NominalFiring | undefined;
  for (let windowMs = FIRST_WINDOW_MS; best === undefined; windowMs *= WINDOW_GROWTH) {
    const low = instant(Math.max(after, upTo - windowMs));
    best = nextUpTo(low);
    if (low === after) break;
  }
  if (best === undefined) return undefined;
  let empty: number = upTo;
  while (best.at < empty) {
    const middle = instant(Math.ceil((best.at + empty) / 2) - 1);
    const later = nextUpTo(middle);
    if (later === undefined) empty = middle;
    else best = later;
  }
  return toFiring(timing, best);
}

function countOfCron(timing: CronTiming, after: Instant, upTo: Instant, limit: number): number {
  let count = 0;
  let found = nextOfCalendar(timing.calendar, after);
  // Not remembered: thousands of steps in a row would push out what the dispatcher asks for again and again.
  while (found !== undefined && found.at <= upTo && count <= limit) {
    count += 1;
    found = nextOfCalendar(timing.calendar, found.at);
  }
  return count;
}

/** How many firings lie in `(after, upTo]`: counted up to `limit`, and whether there are more. Arithmetic for `rate`, at most `limit` + 1 steps for `cron`. */
export function countFirings(
  timing: Timing,
  after: Instant,
  upTo: Instant,
  limit: number,
): { count: number; more: boolean } {
  const from = clampAfter(timing, after);
  const to = timing.endAt !== undefined && timing.endAt < upTo ? timing.endAt : upTo;
  const found = ((): number => {
    switch (timing.kind) {
      case "cron":
        return countOfCron(timing, from, to, limit);
      case "rate":
        return countOfRate(timing, from, to);
      case "at":
        return timing.firings.filter(({ at }) => at > from && at <= to).length;
      default:
        return timing satisfies never;
    }
  })();
  return { count: Math.min(found, limit), more: found > limit };
}
