import { type Instant, later, plusMs } from "./instant.ts";
import type { Change, OccurrenceEvent, TransitionSettings } from "./machine.ts";
import {
  ATTEMPT_LOG_MAX,
  type AttemptLogEntry,
  type DEAD_STATUSES,
  type DeadLetterReason,
  type DueRow,
  type Occurrence,
  type OccurrenceStatus,
  OUTPUT_MAX_BYTES,
  type RecordedError,
} from "./occurrence.ts";
import type { ScheduleSnapshot } from "./schedule.ts";

/** A report of success. An output that is too long is dropped, and the row says so. */
export function succeeded(
  row: DueRow,
  event: Extract<OccurrenceEvent, { type: "succeed" }>,
  now: Instant,
  settings: TransitionSettings,
): Change {
  const fits = event.output === undefined || Buffer.byteLength(event.output) <= OUTPUT_MAX_BYTES;
  return finished(row, "SUCCEEDED", now, settings, {
    log: closed(event, now),
    ...(fits ? event.output !== undefined && { output: event.output } : { outputDropped: true }),
  });
}

/** A report of failure: the next attempt, if one is left and wanted, or the end. */
export function failed(row: DueRow, event: Extract<OccurrenceEvent, { type: "fail" }>, now: Instant): Change {
  const log = closed(event, now, event.error);
  if (event.permanent) return deadLetter(row, "FAILED", "permanent-error", now, event.error, log);
  if (row.attempts >= row.maxAttempts)
    return deadLetter(row, "DEAD_LETTERED", "attempts-exhausted", now, event.error, log);
  const dueAt = plusMs(now, event.delayMs);
  return {
    set: { status: "RETRYING", dueAt, firstDueAt: dueAt, lastError: event.error, log },
    // The job came to an end and said so: it is no suspect any more.
    remove: ["owner", "leaseUntil", "suspect"],
  };
}

/** The log with the running attempt's end, cut to its last {@link ATTEMPT_LOG_MAX}. */
export function closed(
  event: { readonly token: number; readonly log: readonly AttemptLogEntry[] },
  now: Instant,
  error?: RecordedError,
): AttemptLogEntry[] {
  return event.log
    .map((entry) => (entry.token === event.token ? { ...entry, endedAt: now, ...(error && { error }) } : entry))
    .slice(-ATTEMPT_LOG_MAX);
}

/**
 * When history of a run that is over ends, in seconds. It never ends before its instant does: a firing that was cancelled ahead
 * must not be forgotten, and fire after all.
 */
export const expiry = (row: DueRow, now: Instant, settings: TransitionSettings): number =>
  Math.floor(later(now, row.scheduledFor) / 1000) + settings.historySeconds;

/** The end of a run that needs no one's attention: it leaves the due index, and its row may expire. */
export const finished = (
  row: DueRow,
  status: OccurrenceStatus,
  now: Instant,
  settings: TransitionSettings,
  extra: Partial<Occurrence> = {},
): Change => ({
  set: { status, endedAt: now, expiresAtSeconds: expiry(row, now, settings), ...extra },
  remove: ["dueAt", "suspect"],
});

/** The end of a run that somebody must look at: kept until it is replayed or discarded. */
export const deadLetter = (
  row: DueRow,
  status: (typeof DEAD_STATUSES)[number],
  reason: DeadLetterReason,
  now: Instant,
  error?: RecordedError,
  log?: readonly AttemptLogEntry[],
): Change => ({
  set: {
    status,
    endedAt: now,
    deadLetterReason: reason,
    deadLetterShard: row.shard,
    deadLetteredAt: now,
    ...(reason === "worker-lost" && { suspect: true }),
    ...(error && { lastError: error }),
    ...(log && { log }),
  },
  // Replayed, a run whose job never said that it came to an end is the suspect that it was.
  remove: log ? ["dueAt", "suspect"] : ["dueAt"],
});

/**
 * A finished run that is wanted once more. The token stays: the row is no head, and its next message is a new one. Attempts
 * that took their process with them have left entries that no report cut.
 */
export const revived = (row: Partial<Pick<Occurrence, "log">>, kind: Occurrence["kind"], now: Instant): Change => ({
  set: {
    status: "PENDING",
    kind,
    attempts: 0,
    dueAt: now,
    firstDueAt: now,
    ...(row.log && { log: row.log.slice(-ATTEMPT_LOG_MAX) }),
  },
  remove: [
    "owner",
    "leaseUntil",
    "endedAt",
    "expiresAtSeconds",
    "lastError",
    "skipReason",
    "deadLetterReason",
    "deadLetterShard",
    "deadLetteredAt",
    "announcedAt",
  ],
});

/** A decision that passed the row over stands for it no more; what it means for others stands on theirs. */
export function wantedAfterAll(
  row: Partial<Pick<Occurrence, "log">>,
  refresh: ScheduleSnapshot | undefined,
  now: Instant,
): Change {
  const { set, remove = [] } = revived(row, "backfill", now);
  return { set: { ...set, ...(refresh && snapshotOf(refresh)) }, remove: [...remove, "misfire"] };
}

/** What a row takes over of a definition. */
export const snapshotOf = (snapshot: ScheduleSnapshot): Partial<Occurrence> => ({
  ...snapshot,
  maxAttempts: snapshot.retry.maxAttempts,
});
