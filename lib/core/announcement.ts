import { toIso } from "./instant.ts";
import { isTerminal, type Occurrence, type OccurrenceStatus } from "./occurrence.ts";

/** The version of every event's `detail`: members may be added under it, never changed. */
export const ANNOUNCEMENT_VERSION = 1;

/** What an occurrence's new state is called on the event bus; states without a name are not announced. */
const DETAIL_TYPES: Partial<Record<OccurrenceStatus, string>> = {
  RUNNING: "Occurrence Started",
  SUCCEEDED: "Occurrence Succeeded",
  RETRYING: "Occurrence Retrying",
  FAILED: "Occurrence Failed",
  DEAD_LETTERED: "Occurrence Dead-Lettered",
  SKIPPED: "Occurrence Skipped",
  CANCELLED: "Occurrence Cancelled",
};

/** The announcements a deployment pays for only where it asked for them. */
export interface AnnounceOptions {
  readonly started: boolean;
  readonly succeeded: boolean;
  readonly retrying: boolean;
}

/** An event for the bus, identified by (occurrenceId, fencingToken, status): a repeat of it carries the same three. */
export interface OccurrenceAnnouncement {
  readonly detailType: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** What a change of a row makes known: its new state, where that is new and worth an event. */
export function announcementOf(
  before: Occurrence | undefined,
  after: Occurrence,
  options: AnnounceOptions,
): OccurrenceAnnouncement | undefined {
  if (!isNews(before, after, options)) return undefined;
  const detailType = DETAIL_TYPES[after.status];
  return detailType === undefined ? undefined : { detailType, detail: detailOf(after) };
}

/** What tells that a schedule paused itself, after `last` became a dead letter. */
export const scheduleAnnouncement = (
  scheduleId: string,
  paused: { readonly at: string; readonly by?: string; readonly note?: string } | undefined,
  last: Occurrence,
): OccurrenceAnnouncement => ({
  detailType: "Schedule Paused",
  detail: {
    version: ANNOUNCEMENT_VERSION,
    scheduleId,
    ...paused,
    lastOccurrenceId: last.occurrenceId,
    lastFiring: last.firing,
  },
});

/** Whether this change ended a run in a way that somebody must look at: the same announcement goes to the dead-letter queue. */
export const isNewDeadLetter = (before: Occurrence | undefined, after: Occurrence): boolean =>
  isDeadLetter(after) && !(before !== undefined && isDeadLetter(before) && before.fencingToken === after.fencingToken);

/** A run that ended as a dead letter and was neither replayed nor discarded. */
export const isDeadLetter = (row: Pick<Occurrence, "status" | "deadLetteredAt">): boolean =>
  (row.status === "FAILED" || row.status === "DEAD_LETTERED") && row.deadLetteredAt !== undefined;

function isNews(before: Occurrence | undefined, after: Occurrence, options: AnnounceOptions): boolean {
  // A finished row that is touched again (announced, discarded) is no news; a replay is finished first and not any more.
  if (before?.status === after.status && before.fencingToken === after.fencingToken) return false;
  if (after.status === "RUNNING") return options.started;
  if (after.status === "SUCCEEDED") return options.succeeded;
  if (after.status === "RETRYING") return options.retrying;
  return isTerminal(after.status);
}

function detailOf(row: Occurrence): Readonly<Record<string, unknown>> {
  return {
    version: ANNOUNCEMENT_VERSION,
    occurrenceId: row.occurrenceId,
    fencingToken: row.fencingToken,
    status: row.status,
    scheduleId: row.scheduleId,
    firing: row.firing,
    kind: row.kind,
    scheduledFor: toIso(row.scheduledFor),
    job: row.job,
    queue: row.queue,
    attempts: row.attempts,
    maxAttempts: row.maxAttempts,
    ...(row.skipReason !== undefined && { reason: row.skipReason }),
    ...(row.deadLetterReason !== undefined && { reason: row.deadLetterReason }),
    ...(row.lastError !== undefined && { error: row.lastError }),
    ...(row.misfire !== undefined && {
      misfire: { ...row.misfire, from: toIso(row.misfire.from), to: toIso(row.misfire.to) },
    }),
  };
}
