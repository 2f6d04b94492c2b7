import { type Instant, plusMs } from "./instant.ts";
import { type DueRow, isHead, isTerminal, type Occurrence } from "./occurrence.ts";
import type { ScheduleSnapshot } from "./schedule.ts";

/** How long a row waits for its turn before it is looked at again; the end of the holder brings it forward. */
export const TURN_WAIT_MS = 60_000;

/** How soon a row that replaces another looks again where that one has no lease to wait for. */
const REPLACE_WAIT_MS = 1_000;

/** What a row does whose schedule's runs must not overlap. */
export type Turn =
  | { readonly kind: "go" }
  | { readonly kind: "skip" }
  | { readonly kind: "wait"; readonly until: Instant }
  | { readonly kind: "replace"; readonly until: Instant };

/**
 * Whether it is `row`'s turn. `holder`: the run that the gate names, read after the gate; `undefined` where the gate is
 * missing or the run is gone. A run that will be retried, or was lost and will be claimed again, still holds its turn.
 */
export function turnOf(
  row: DueRow,
  policy: ScheduleSnapshot["overlap"],
  holder: Occurrence | undefined,
  now: Instant,
): Turn {
  if (policy === "allow" || holder === undefined || holder.firing === row.firing || isOver(holder, now))
    return { kind: "go" };
  const leaseUntil = holder.leaseUntil ?? now;
  if (policy === "replace")
    return { kind: "replace", until: leaseUntil > now ? leaseUntil : plusMs(now, REPLACE_WAIT_MS) };
  // Only a head is passed over: what was asked for, caught up with or tried before waits.
  return policy === "skip" && isHead(row) ? { kind: "skip" } : { kind: "wait", until: plusMs(now, TURN_WAIT_MS) };
}

/** A run is over when it reported its end itself, or when the lease that a cancel left to it has run out. */
const isOver = (holder: Occurrence, now: Instant): boolean =>
  isTerminal(holder.status) &&
  (holder.status !== "CANCELLED" || holder.leaseUntil === undefined || holder.leaseUntil <= now);
