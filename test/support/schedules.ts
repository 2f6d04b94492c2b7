import { formatProblems, type Problem } from "../../lib/core/errors.ts";
import { parseSchedule, type Schedule, type ScheduleLimits } from "../../lib/core/schedule.ts";

/** A deployment with two queues, history for thirty days. */
export const LIMITS: ScheduleLimits = {
  queues: { default: { timeoutMaxSeconds: 290 }, slow: { timeoutMaxSeconds: 3_600, retry: { maxAttempts: 3 } } },
  historySeconds: 30 * 86_400,
};

/** The item of a schedule that fires every five minutes, with what `given` says otherwise. */
export const scheduleItem = (given: Readonly<Record<string, unknown>> = {}) => ({
  scheduleId: "nightly",
  rate: "5 minutes",
  ...given,
});

/** The schedule that `item` makes; throws with its problems where it is not valid. */
export function scheduleOf(item: Readonly<Record<string, unknown>>, limits: ScheduleLimits = LIMITS): Schedule {
  const parsed = parseSchedule(item, limits);
  if (parsed.kind === "invalid") throw new Error(formatProblems(parsed.problems));
  return parsed.schedule;
}

/** All that is wrong with `item`, which is nothing where it is valid. */
export function problemsWith(
  item: Readonly<Record<string, unknown>>,
  limits: ScheduleLimits = LIMITS,
): readonly Problem[] {
  const parsed = parseSchedule(item, limits);
  return parsed.kind === "invalid" ? parsed.problems : [];
}
