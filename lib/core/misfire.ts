import { countFirings, type Firing, firingsBetween, latestFiring, nextFiring, type Timing } from "./firing/index.ts";
import { type Instant, later, plusMs } from "./instant.ts";
import { type DueRow, isHead, type MisfireDecision } from "./occurrence.ts";
import type { MisfirePolicy } from "./schedule.ts";
import { isSameTiming } from "./schedule-version.ts";

/** Where the counting of missed firings stops: past it a decision says "more than". */
export const MISFIRES_COUNTED_MAX = 10_000;

/**
 * How many caught-up rows one visit inserts: enough to outrun a per-second schedule, few enough to hold up no neighbour. A
 * schedule whose runs must not overlap gets one at a time: so they keep their order.
 */
export const CATCH_UP_ROWS = 100;

/** Whether a head comes up later than its grace allows. Late by exactly its grace it does not. */
export const isMisfire = (row: Pick<DueRow, "dueAt">, policy: MisfirePolicy, now: Instant): boolean =>
  row.dueAt !== undefined && now - row.dueAt > policy.graceSeconds * 1000;

/**
 * What the policy makes of a head that is a misfire at `now`: which firings are missed, from the head's own to the latest
 * that fell due by `upTo`, and how many. Put on the head before anything follows from it, so that it is decided once whoever
 * crashes.
 */
export function decideMisfire(
  timing: Timing,
  row: DueRow,
  policy: MisfirePolicy,
  now: Instant,
  upTo: Instant = now,
): MisfireDecision {
  // Under `skip`, what is late within its grace is no misfire and still runs as itself.
  const missedBefore = policy.policy === "skip" ? plusMs(now, -policy.graceSeconds * 1000 - 1) : now;
  const to = latestDue(timing, row.scheduledFor, missedBefore < upTo ? missedBefore : upTo) ?? row.scheduledFor;
  const windowStart = plusMs(now, -policy.catchupWindowSeconds * 1000);
  // All of it lies before the window: there is nothing left to catch up with.
  const kind = policy.policy === "all" && to < windowStart ? "skip" : policy.policy;
  const from = kind === "all" ? firstFrom(timing, later(windowStart, row.scheduledFor), to) : row.scheduledFor;
  const { count, more } = countFirings(timing, plusMs(from, -1), to, MISFIRES_COUNTED_MAX);
  return { policy: kind, count, more, from, to };
}

/** The latest firing after `after` that fell due by `by`: with jitter the latest nominal instant may lie before its due time. */
function latestDue(timing: Timing, after: Instant, by: Instant): Instant | undefined {
  const latest = latestFiring(timing, after, by);
  if (latest === undefined || latest.dueAt <= by) return latest?.scheduledFor;
  return latestFiring(timing, after, plusMs(latest.scheduledFor, -1))?.scheduledFor;
}

/**
 * What a head that is a misfire takes over from those before it, `older`, newest first: a reconcile during an outage leaves
 * several heads on one chain, and the decision is the oldest one's. `undefined` where the row decides for itself.
 */
export function decisionBefore(
  row: DueRow,
  older: readonly DueRow[],
  policy: MisfirePolicy,
  now: Instant,
): { readonly kind: "made"; readonly misfire: MisfireDecision } | { readonly kind: "to-come" } | undefined {
  for (const other of older) {
    if (!isSameTiming(other.scheduleVersion, row.scheduleVersion)) continue;
    const { misfire } = other;
    if (misfire !== undefined && row.scheduledFor <= misfire.to) return { kind: "made", misfire };
    if (misfire === undefined && isHead(other) && isMisfire(other, policy, now)) return { kind: "to-come" };
  }
  return undefined;
}

/** The first firing at or after `start`, which lies at or before the firing `to`. */
const firstFrom = (timing: Timing, start: Instant, to: Instant): Instant =>
  nextFiring(timing, plusMs(start, -1))?.scheduledFor ?? to;

/** The next caught-up firings after `after` that a decision stands for, at most `limit`, and whether more remain behind them. */
export function catchUpAfter(
  timing: Timing,
  decision: MisfireDecision,
  after: Instant,
  limit: number,
): { readonly firings: readonly Firing[]; readonly more: boolean } {
  const start = later(plusMs(after, 1), decision.from);
  const firings = firingsBetween(timing, start, plusMs(decision.to, 1), limit);
  const last = firings.at(-1);
  return { firings, more: last !== undefined && last.scheduledFor < decision.to };
}
