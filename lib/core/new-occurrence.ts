import type { Firing } from "./firing/index.ts";
import { manualFiring, manualOccurrenceId, occurrenceIdAt, shardOf } from "./ids.ts";
import { type Instant, toIso } from "./instant.ts";
import type { MisfireDecision, Occurrence, OccurrenceKind } from "./occurrence.ts";
import type { Schedule, ScheduleSnapshot } from "./schedule.ts";

/** The key of a schedule's run at a nominal instant. */
export const keyAt = (scheduleId: string, scheduledFor: Instant) => ({ scheduleId, firing: toIso(scheduledFor) });

/** A row of the chain: due when its firing says, jitter included. */
export const newHead = (schedule: Schedule, firing: Firing, now: Instant, shardCount: number): Occurrence => ({
  ...keyAt(schedule.scheduleId, firing.scheduledFor),
  ...fresh(occurrenceIdAt(schedule.scheduleId, firing.scheduledFor), "scheduled", schedule.snapshot, shardCount),
  scheduledFor: firing.scheduledFor,
  dueAt: firing.dueAt,
  firstDueAt: firing.dueAt,
  createdAt: now,
  ...settling(schedule),
});

/** A one-shot ends with its run; a schedule that wants to be gone may be, once any of its runs is over. */
const settling = ({ timing, deleteAfterCompletion }: Schedule): Pick<Occurrence, "settles"> =>
  timing.kind === "at" || deleteAfterCompletion ? { settles: true } : {};

/** A head that stands for missed firings: due at once, and not to be judged again. */
export const newStandIn = (
  schedule: Schedule,
  firing: Firing,
  misfire: MisfireDecision,
  now: Instant,
  shardCount: number,
): Occurrence => ({ ...newHead(schedule, firing, now, shardCount), misfire, dueAt: now, firstDueAt: now });

/**
 * A missed firing that is caught up with: due at once, so that it never queues ahead of live work. With `misfire` it brings
 * the rest of what that decision stands for.
 */
export const newBackfill = (
  schedule: Schedule,
  firing: Firing,
  now: Instant,
  shardCount: number,
  misfire?: MisfireDecision,
): Occurrence => ({
  ...newHead(schedule, firing, now, shardCount),
  kind: "backfill",
  dueAt: now,
  firstDueAt: now,
  ...(misfire && { misfire }),
});

/** A run somebody asked for, under their own key. `payload`: JSON text in place of the schedule's own. */
export const newManualRun = (
  schedule: Schedule,
  key: string,
  now: Instant,
  shardCount: number,
  payload = schedule.snapshot.payload,
): Occurrence => ({
  scheduleId: schedule.scheduleId,
  firing: manualFiring(key),
  ...fresh(manualOccurrenceId(schedule.scheduleId, key), "manual", { ...schedule.snapshot, payload }, shardCount),
  scheduledFor: now,
  dueAt: now,
  firstDueAt: now,
  createdAt: now,
  ...settling(schedule),
});

const fresh = (occurrenceId: string, kind: OccurrenceKind, snapshot: ScheduleSnapshot, shardCount: number) => ({
  occurrenceId,
  kind,
  status: "PENDING" as const,
  shard: shardOf(occurrenceId, shardCount),
  attempts: 0,
  maxAttempts: snapshot.retry.maxAttempts,
  fencingToken: 0,
  log: [],
  ...snapshot,
});
