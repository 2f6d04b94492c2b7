import { toIso } from "./instant.ts";
import { isDead, isTerminal, type Occurrence, type OccurrenceStatus } from "./occurrence.ts";
import { pauseNote, statusNote } from "./schedule.ts";

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

/** Who announces, and what it pays for only where it asked for it. */
export interface AnnounceOptions {
  /** The deployment's name: several may share a bus. */
  readonly deployment: string;
  readonly started: boolean;
  readonly succeeded: boolean;
  readonly retrying: boolean;
}

/**
 * An event for the bus. A repeat of it carries the same identity: (occurrenceId, fencingToken, status) of an occurrence;
 * of a schedule (scheduleId, scheduleVersion) where it is invalid and (scheduleId, at) where it paused itself.
 */
export interface News {
  readonly detailType: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** What a change of a row makes known: its new state, where that is new and worth an event. */
export function announcementOf(
  before: Occurrence | undefined,
  after: Occurrence,
  options: AnnounceOptions,
): News | undefined {
  if (!isNews(before, after, options)) return undefined;
  const detailType = DETAIL_TYPES[after.status];
  return detailType === undefined ? undefined : { detailType, detail: detailOf(after, options) };
}

/** Who a schedule's own pause says it is by. */
export const PAUSED_BY_ITSELF = "pauseAfterDeadLetters";

/** A schedule's item, as plain values. */
type Item = Readonly<Record<string, unknown>>;

/** What a change of a schedule's item makes known: that it was found invalid, once for each definition, and that it paused itself. */
export function scheduleNews(
  before: Item | undefined,
  after: Item,
  { deployment }: Pick<AnnounceOptions, "deployment">,
): readonly News[] {
  const was = before && statusNote(before);
  const status = statusNote(after);
  const pause = pauseNote(after);
  const isNewlyInvalid = status?.state === "INVALID" && !(was?.state === "INVALID" && was.version === status.version);
  const isNewlyPaused = pause?.by === PAUSED_BY_ITSELF && (before && pauseNote(before))?.at !== pause.at;
  const common = { version: ANNOUNCEMENT_VERSION, deployment, scheduleId: after["scheduleId"] };
  const invalid = { ...common, scheduleVersion: status?.version, problem: status?.problem };
  const paused = { ...common, at: pause?.at, note: pause?.note };
  return [
    ...(isNewlyInvalid ? [{ detailType: "Schedule Invalid", detail: invalid }] : []),
    ...(isNewlyPaused ? [{ detailType: "Schedule Paused Itself", detail: paused }] : []),
  ];
}

/** Whether this change ended a run in a way that somebody must look at: the same announcement goes to the dead-letter queue. */
export const isNewDeadLetter = (before: Occurrence | undefined, after: Occurrence): boolean =>
  isDeadLetter(after) && !(before !== undefined && isDeadLetter(before) && before.fencingToken === after.fencingToken);

/** A run that ended as a dead letter and was neither replayed nor discarded. */
export const isDeadLetter = (row: Pick<Occurrence, "status" | "deadLetteredAt">): boolean =>
  isDead(row.status) && row.deadLetteredAt !== undefined;

function isNews(before: Occurrence | undefined, after: Occurrence, options: AnnounceOptions): boolean {
  // A finished row that is touched again (announced, discarded) is no news; a replay is finished first and not any more.
  if (before?.status === after.status && before.fencingToken === after.fencingToken) return false;
  if (after.status === "RUNNING") return options.started;
  if (after.status === "SUCCEEDED") return options.succeeded;
  if (after.status === "RETRYING") return options.retrying;
  return isTerminal(after.status);
}

function detailOf(row: Occurrence, { deployment }: AnnounceOptions): Readonly<Record<string, unknown>> {
  return {
    version: ANNOUNCEMENT_VERSION,
    deployment,
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
    ...(row.cancelReason !== undefined && { reason: row.cancelReason }),
    ...(row.deadLetterReason !== undefined && { reason: row.deadLetterReason }),
    ...(row.lastError !== undefined && { error: row.lastError }),
    ...(row.misfire !== undefined && {
      misfire: { ...row.misfire, from: toIso(row.misfire.from), to: toIso(row.misfire.to) },
    }),
  };
}
