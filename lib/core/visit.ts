import { type Firing, firesAt, nextFiring } from "./firing/index.ts";
import { type Instant, later } from "./instant.ts";
import { type DueRow, isHead, type SkipReason } from "./occurrence.ts";
import type { Schedule, ScheduleSnapshot } from "./schedule.ts";
import { startDeadline } from "./transition.ts";

/** What a dispatcher has to do with a row that came due. Every kind but `nothing` ends in a write. */
export type Visit = "head" | "claim" | "claim-again" | "never-started" | "worker-lost" | "nothing";

/** Decides what `row`, as the due index showed it, wants at `now`. `nothing`: the index is stale. */
export function visit(row: DueRow, now: Instant): Visit {
  if (row.dueAt === undefined || now < row.dueAt) return "nothing";
  switch (row.status) {
    case "PENDING":
    case "RETRYING":
      if (isHead(row)) return "head";
      return now >= startDeadline(row) ? "never-started" : "claim";
    case "DISPATCHED":
      return now >= startDeadline(row) ? "never-started" : "claim-again";
    case "RUNNING":
      return row.attempts >= row.maxAttempts ? "worker-lost" : "claim";
    case "SUCCEEDED":
    case "FAILED":
    case "DEAD_LETTERED":
    case "SKIPPED":
    case "CANCELLED":
      return "nothing";
    default:
      return row.status satisfies never;
  }
}

/** A schedule as a claim reads it: consistently, at or after the row's instant. */
export type ScheduleReading =
  | { readonly kind: "found"; readonly schedule: Schedule }
  | { readonly kind: "invalid" }
  | { readonly kind: "missing" };

/** What becomes of a head, and the firing that carries the chain on: inserted before the head is touched. */
export type HeadDecision =
  | { readonly kind: "run"; readonly refresh?: ScheduleSnapshot; readonly successor?: Firing }
  | { readonly kind: "skip"; readonly reason: SkipReason; readonly successor?: Firing };

/**
 * Decides a due head by the definition that is in force now: between the instant and its claim, the definition that the
 * claim reads decides.
 */
export function decideHead(row: DueRow, reading: ScheduleReading, now: Instant): HeadDecision {
  if (reading.kind === "missing") return { kind: "skip", reason: "deleted" };
  // A definition that does not validate fires nothing; the reconcile that follows its mending starts the chain anew.
  if (reading.kind === "invalid") return { kind: "skip", reason: "edited" };
  const { schedule } = reading;
  const next = nextFiring(schedule.timing, successorAnchor(row, schedule, now));
  const successor = next === undefined ? {} : { successor: next };
  if (!schedule.enabled) return { kind: "skip", reason: "disabled", ...successor };
  if (schedule.paused || (schedule.resumedAt !== undefined && row.scheduledFor < schedule.resumedAt))
    return { kind: "skip", reason: "paused", ...successor };
  if (schedule.version === row.scheduleVersion) return { kind: "run", ...successor };
  if (firesAt(schedule.timing, row.scheduledFor) === undefined) return { kind: "skip", reason: "edited", ...successor };
  return { kind: "run", refresh: schedule.snapshot, ...successor };
}

/**
 * The instant after which a head's successor fires: the head's own nominal instant, never now, so that lateness does not
 * drift into the chain. After an edit it is no earlier than that edit: what the new definition would have fired before it
 * was written is not owed. While the reconcile of an edit is still to come, now stands for it; that reconcile inserts what
 * lies between.
 */
export function successorAnchor(row: DueRow, schedule: Schedule, now: Instant): Instant {
  if (schedule.version === row.scheduleVersion) return row.scheduledFor;
  const since = schedule.status?.version === schedule.version ? schedule.status.since : now;
  return later(since, row.scheduledFor);
}
