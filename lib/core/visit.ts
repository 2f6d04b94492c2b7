import { type Firing, firesAt, nextFiring } from "./firing/index.ts";
import { type Instant, later, plusMs } from "./instant.ts";
import { CATCH_UP_ROWS, catchUpAfter, decideMisfire, isMisfire } from "./misfire.ts";
import { type DueRow, isHead, type MisfireDecision, type SkipReason } from "./occurrence.ts";
import type { Schedule, ScheduleSnapshot } from "./schedule.ts";
import { isSameTiming } from "./schedule-version.ts";
import { startDeadline } from "./transition.ts";

/** What a dispatcher has to do with a row that came due. Every kind but `nothing` ends in a write. */
export type Visit = "head" | "catch-up" | "claim" | "claim-again" | "never-started" | "worker-lost" | "nothing";

/** Decides what `row`, as the due index showed it, wants at `now`. `nothing`: the index is stale. */
export function visit(row: DueRow, now: Instant): Visit {
  if (row.dueAt === undefined || now < row.dueAt) return "nothing";
  switch (row.status) {
    case "PENDING":
    case "RETRYING":
      if (isHead(row)) return "head";
      // Also past its start deadline: what is behind it must not be lost with it.
      if (carriesCatchUp(row)) return "catch-up";
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

/** The firing that carries a chain on. With `misfire` it stands for missed firings, and is due at once. */
export interface Successor {
  readonly firing: Firing;
  readonly misfire?: MisfireDecision;
}

/**
 * What becomes of a head. `successor` carries the chain on and is inserted before the head is touched; `catchUp` are missed
 * firings to insert beside it.
 */
export type HeadDecision =
  /** It is a misfire: record what follows from that before anything does. */
  | { readonly kind: "decide"; readonly misfire: MisfireDecision }
  | {
      readonly kind: "run";
      readonly refresh?: ScheduleSnapshot;
      readonly successor?: Successor;
      readonly catchUp?: CatchUp;
    }
  | { readonly kind: "skip"; readonly reason: SkipReason; readonly successor?: Successor; readonly catchUp?: CatchUp };

/** Missed firings that run as rows of their own. With `more`, the last of them brings the rest when it comes up itself. */
export interface CatchUp {
  readonly firings: readonly Firing[];
  readonly misfire: MisfireDecision;
  readonly more: boolean;
}

/**
 * Decides a due head by the definition that is in force now: between the instant and its claim, the definition that the
 * claim reads decides.
 */
export function decideHead(row: DueRow, reading: ScheduleReading, now: Instant): HeadDecision {
  if (reading.kind === "missing") return { kind: "skip", reason: "deleted" };
  // A definition that does not validate fires nothing; the reconcile that follows its mending starts the chain anew.
  if (reading.kind === "invalid") return { kind: "skip", reason: "edited" };
  const { schedule } = reading;
  const anchor = successorAnchor(row, schedule, now);
  const goOn = (after: Instant) => successorAfter(schedule, later(anchor, after));
  // What is due by now would be passed over like this row: the chain goes on behind it, whatever an outage has left there.
  if (!schedule.enabled) return { kind: "skip", reason: "disabled", ...goOn(now) };
  if (schedule.paused) return { kind: "skip", reason: "paused", ...goOn(now) };
  if (schedule.resumedAt !== undefined && row.scheduledFor < schedule.resumedAt)
    return { kind: "skip", reason: "paused", ...goOn(plusMs(schedule.resumedAt, -1)) };
  const edited = schedule.version !== row.scheduleVersion;
  if (edited && firesAt(schedule.timing, row.scheduledFor) === undefined)
    return { kind: "skip", reason: "edited", ...goOn(anchor) };
  const refresh = edited ? { refresh: schedule.snapshot } : {};
  const policy = schedule.snapshot.misfirePolicy;
  if (row.misfire !== undefined) return { ...followMisfire(row, row.misfire, schedule, anchor), ...refresh };
  if (!isMisfire(row, policy, now)) return { kind: "run", ...refresh, ...goOn(anchor) };
  // What new firing times would have fired before they were written was not missed.
  const upTo = isSameTiming(schedule.version, row.scheduleVersion) ? now : row.scheduledFor;
  return { kind: "decide", misfire: decideMisfire(schedule.timing, row, policy, now, upTo) };
}

const successorAfter = (schedule: Schedule, after: Instant): { successor?: Successor } => {
  const firing = nextFiring(schedule.timing, after);
  return firing === undefined ? {} : { successor: { firing } };
};

/** What follows from a recorded decision, in every pass the same. */
function followMisfire(
  row: DueRow,
  misfire: MisfireDecision,
  schedule: Schedule,
  anchor: Instant,
): Exclude<HeadDecision, { kind: "decide" }> {
  const afterwards = successorAfter(schedule, later(misfire.to, anchor));
  switch (misfire.policy) {
    case "skip":
      return { kind: "skip", reason: "misfire", ...afterwards };
    case "coalesce": {
      // The latest missed firing stands for the others, as a head of its own; if that is this one, it runs.
      const latest = misfire.to > row.scheduledFor ? firesAt(schedule.timing, misfire.to) : undefined;
      return latest === undefined
        ? { kind: "run", ...afterwards }
        : { kind: "skip", reason: "misfire", successor: { firing: latest, misfire } };
    }
    case "all": {
      const catchUp = catchUpOf(row, misfire, schedule);
      return row.scheduledFor < misfire.from
        ? { kind: "skip", reason: "misfire", ...afterwards, ...catchUp }
        : { kind: "run", ...afterwards, ...catchUp };
    }
    default:
      return misfire.policy satisfies never;
  }
}

/** Whether a caught-up row is the last of its batch, with more missed firings behind it that its visit must insert first. */
export const carriesCatchUp = <Row extends DueRow>(row: Row): row is Row & { readonly misfire: MisfireDecision } =>
  row.kind === "backfill" && row.status === "PENDING" && row.fencingToken === 0 && row.misfire?.policy === "all";

/** What a carrying row brings before it runs; nothing where its schedule is gone or can no longer tell. */
export const catchUpFrom = (
  row: DueRow & { readonly misfire: MisfireDecision },
  reading: ScheduleReading,
): { readonly catchUp?: CatchUp } => (reading.kind === "found" ? catchUpOf(row, row.misfire, reading.schedule) : {});

/**
 * The missed firings behind `row` that a decision stands for. Nothing once the schedule fires at other times: which ones
 * were missed nobody can tell any more, and what the new ones would have been before they were written is not owed.
 */
function catchUpOf(row: DueRow, misfire: MisfireDecision, schedule: Schedule): { readonly catchUp?: CatchUp } {
  if (!isSameTiming(schedule.version, row.scheduleVersion)) return {};
  const rows = schedule.snapshot.overlap === "allow" ? CATCH_UP_ROWS : 1;
  return { catchUp: { ...catchUpAfter(schedule.timing, misfire, row.scheduledFor, rows), misfire } };
}

/**
 * The instant after which a head's successor fires: the head's own nominal instant, never now, so that lateness does not
 * drift into the chain. With new firing times it is no earlier than the edit that brought them: what they would have fired
 * before they were written is not owed. While the reconcile of that edit is still to come, now stands for it; that
 * reconcile inserts what lies between.
 */
export function successorAnchor(row: DueRow, schedule: Schedule, now: Instant): Instant {
  if (isSameTiming(schedule.version, row.scheduleVersion)) return row.scheduledFor;
  const since = schedule.status?.version === schedule.version ? schedule.status.since : now;
  return later(since, row.scheduledFor);
}
