import * as z from "zod";
import { InvalidScheduleError } from "../errors.ts";
import { type Instant, instant } from "../instant.ts";
import { problemsOf } from "../validation.ts";
import { describeTiming } from "./describe.ts";
import { firingsBetween as between, nextFiring } from "./next.ts";
import { parseTiming } from "./parse.ts";
import { GAP_POLICIES, REPEATED_POLICIES, type Timing, type TimingDefinition } from "./timing.ts";

/** The most firings one call answers, so that no call takes longer than a moment. */
export const MAX_FIRINGS = 100_000;

const text = z.optional(z.string("must be text"));
const oneOf = <const T extends readonly string[]>(values: T) => z.enum(values, `must be ${values.join(" or ")}`);

/** The attributes' types, for callers without a compiler; what the texts say is `parseTiming`'s to judge. Other attributes are nothing to it. */
const shape = z.object(
  {
    scheduleId: text,
    cron: text,
    rate: text,
    at: text,
    timezone: text,
    startAt: text,
    endAt: text,
    jitterSeconds: z.optional(z.number("must be a number")),
    dst: z.optional(
      z.object(
        { gap: z.optional(oneOf(GAP_POLICIES)), repeated: z.optional(oneOf(REPEATED_POLICIES)) },
        "must be a map of gap and repeated",
      ),
    ),
  },
  "must be a schedule definition",
);

function timingOf(definition: TimingDefinition): Timing {
  const typed = shape.safeParse(definition);
  if (!typed.success) throw new InvalidScheduleError(undefined, problemsOf(typed.error, definition));
  const result = parseTiming(definition);
  if (result.kind === "invalid") throw new InvalidScheduleError(definition.scheduleId, result.problems);
  return result.timing;
}

function instantOf(name: string, date: Date): Instant {
  const epochMs = date.getTime();
  if (Number.isNaN(epochMs)) throw new RangeError(`${name} must be a valid date, got Invalid Date`);
  return instant(epochMs);
}

function checkCount(name: string, count: number): number {
  if (Number.isInteger(count) && count >= 0 && count <= MAX_FIRINGS) return count;
  throw new RangeError(`${name} must be a whole number 0-${MAX_FIRINGS}, got ${count}`);
}

/**
 * The next `count` nominal firings strictly later than `after`, oldest first; fewer when the schedule ends or the horizon (the end of
 * 2199) comes first. Throws `InvalidScheduleError` with every problem of the definition, `RangeError` for an unusable date or count.
 */
export function nextFirings(definition: TimingDefinition, options: { after: Date; count: number }): Date[] {
  const timing = timingOf(definition);
  const count = checkCount("count", options.count);
  const dates: Date[] = [];
  let after = instantOf("after", options.after);
  while (dates.length < count) {
    const firing = nextFiring(timing, after);
    if (firing === undefined) break;
    dates.push(new Date(firing.scheduledFor));
    after = firing.scheduledFor;
  }
  return dates;
}

/** The nominal firings in `[from, to)`, at most `limit`, oldest first. Throws as {@link nextFirings} does. */
export function firingsBetween(definition: TimingDefinition, from: Date, to: Date, limit: number): Date[] {
  const timing = timingOf(definition);
  const firings = between(timing, instantOf("from", from), instantOf("to", to), checkCount("limit", limit));
  return firings.map(({ scheduledFor }) => new Date(scheduledFor));
}

/** The schedule's timing in plain English, time zone included. Throws `InvalidScheduleError` with every problem of the definition. */
export const describeSchedule = (definition: TimingDefinition): string => describeTiming(timingOf(definition));
