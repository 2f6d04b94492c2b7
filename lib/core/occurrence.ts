import type { Instant } from "./instant.ts";
import type { ScheduleSnapshot } from "./schedule.ts";

/** Every state an occurrence can be in; `transition.ts` says how it gets from one to the next. */
export const OCCURRENCE_STATUSES = [
  "PENDING",
  "DISPATCHED",
  "RUNNING",
  "RETRYING",
  "SUCCEEDED",
  "FAILED",
  "DEAD_LETTERED",
  "SKIPPED",
  "CANCELLED",
] as const;
export type OccurrenceStatus = (typeof OCCURRENCE_STATUSES)[number];

/** Finished: left only by a replay (`FAILED`, `DEAD_LETTERED`) or a backfill (`SKIPPED`). Such rows carry no `dueAt`. */
export const TERMINAL_STATUSES = ["SUCCEEDED", "FAILED", "DEAD_LETTERED", "SKIPPED", "CANCELLED"] as const;
export type TerminalStatus = (typeof TERMINAL_STATUSES)[number];

/** The states of a run that is not over. */
export const UNFINISHED_STATUSES = ["PENDING", "DISPATCHED", "RUNNING", "RETRYING"] as const;

/** The states of a run that ended without success and that somebody must look at. */
export const DEAD_STATUSES = ["FAILED", "DEAD_LETTERED"] as const;

/** Whether `status` is one of {@link TERMINAL_STATUSES}. */
export const isTerminal = (status: OccurrenceStatus): status is TerminalStatus =>
  TERMINAL_STATUSES.some((terminal) => terminal === status);

/** Whether `status` is one of {@link DEAD_STATUSES}. */
export const isDead = (status: OccurrenceStatus): boolean => DEAD_STATUSES.some((dead) => dead === status);

/** How a row came to be: the chain's own firing, a missed one caught up with, or a run somebody asked for. */
export const OCCURRENCE_KINDS = ["scheduled", "backfill", "manual"] as const;
export type OccurrenceKind = (typeof OCCURRENCE_KINDS)[number];

/** Why a head was passed over instead of run. */
export const SKIP_REASONS = ["edited", "paused", "disabled", "deleted", "misfire", "overlap"] as const;
export type SkipReason = (typeof SKIP_REASONS)[number];

/** Why a run was cancelled: somebody asked for it, the next firing took its place, or its schedule was deleted. */
export const CANCEL_REASONS = ["requested", "replaced", "deleted"] as const;
export type CancelReason = (typeof CANCEL_REASONS)[number];

/** Why a run ended as a dead letter. */
export const DEAD_LETTER_REASONS = [
  "attempts-exhausted",
  "permanent-error",
  "worker-lost",
  "never-started",
  "rejected-by-queue",
] as const;
export type DeadLetterReason = (typeof DEAD_LETTER_REASONS)[number];

/** The primary key: UNIQUE(schedule, firing). People write it `<scheduleId>@<firing>`. */
export interface OccurrenceKey {
  readonly scheduleId: string;
  /** The nominal instant in ISO form, or `manual#<key>`. */
  readonly firing: string;
}

/** An error as it is kept on a row: bounded text, never the thrown object. */
export interface RecordedError {
  readonly name: string;
  readonly message: string;
}

/** One attempt that started. Without `endedAt` it is still running, or its worker was lost. */
export interface AttemptLogEntry {
  readonly token: number;
  readonly attempt: number;
  readonly startedAt: Instant;
  readonly endedAt?: Instant;
  readonly error?: RecordedError;
  /** Where its logs are: a CloudWatch log group and stream and the request id, or a host and process. */
  readonly logs?: string;
}

/** How many attempts a row's log keeps, newest last. */
export const ATTEMPT_LOG_MAX = 10;

/** What a misfire policy decided for a head that came up too late, and which firings it stands for. */
export interface MisfireDecision {
  readonly policy: "coalesce" | "all" | "skip";
  readonly count: number;
  /** `true` where counting stopped at its bound: `count` reads "more than". */
  readonly more: boolean;
  readonly from: Instant;
  readonly to: Instant;
}

/**
 * What a claim decides on, and all that the due index projects. A row as the index shows it may be stale; every claim
 * therefore repeats what it saw in its guard.
 */
export interface DueRow extends OccurrenceKey {
  readonly occurrenceId: string;
  readonly kind: OccurrenceKind;
  readonly status: OccurrenceStatus;
  readonly scheduledFor: Instant;
  /** The next instant at which the dispatcher must look at this row. Absent on finished rows. */
  readonly dueAt?: Instant;
  readonly shard: number;
  /** Attempts taken since the row was inserted or last replayed. */
  readonly attempts: number;
  readonly maxAttempts: number;
  /** Grows by one with every attempt taken, every cancel and every death before a start, and never shrinks. */
  readonly fencingToken: number;
  readonly owner?: string;
  readonly leaseUntil?: Instant;
  /** When the attempt that is wanted next first fell due: what the start deadline counts from. */
  readonly firstDueAt: Instant;
  readonly startDeadlineSeconds: number;
  readonly scheduleVersion: string;
  readonly queue: string;
  readonly suspect?: boolean;
  readonly misfire?: MisfireDecision;
  readonly overlap: ScheduleSnapshot["overlap"];
}

/** The attributes of {@link DueRow} beyond the keys of table and index: what the due index must project. */
export const DUE_INDEX_ATTRIBUTES = [
  "occurrenceId",
  "kind",
  "status",
  "scheduledFor",
  "attempts",
  "maxAttempts",
  "fencingToken",
  "owner",
  "leaseUntil",
  "firstDueAt",
  "startDeadlineSeconds",
  "scheduleVersion",
  "queue",
  "suspect",
  "misfire",
  "overlap",
] as const satisfies readonly (keyof DueRow)[];

/** A whole row of the Occurrences table. */
export interface Occurrence extends DueRow, Omit<ScheduleSnapshot, "retry" | "queue"> {
  readonly retry: ScheduleSnapshot["retry"];
  readonly log: readonly AttemptLogEntry[];
  readonly createdAt: Instant;
  readonly claimedAt?: Instant;
  readonly startedAt?: Instant;
  readonly endedAt?: Instant;
  /** The job's JSON result, as text, at most {@link OUTPUT_MAX_BYTES}. */
  readonly output?: string;
  /** The job returned more than {@link OUTPUT_MAX_BYTES}; it was not kept. */
  readonly outputDropped?: boolean;
  readonly skipReason?: SkipReason;
  /** Why it was cancelled. */
  readonly cancelReason?: CancelReason;
  /**
   * Its schedule is to be reconciled once it is claimed, and once it is over: no firing follows it, or the schedule wants to be
   * gone after its completion, or somebody cancelled it.
   */
  readonly settles?: boolean;
  readonly deadLetterReason?: DeadLetterReason;
  readonly lastError?: RecordedError;
  /** Partition and sort key of the sparse dead-letter index: present on open dead letters only. */
  readonly deadLetterShard?: number;
  readonly deadLetteredAt?: Instant;
  readonly announcedAt?: Instant;
  /** The newest attempt, by its token, that was claimed for a queue whose runs are done once SQS has them. */
  readonly enqueuedToken?: number;
  /** TTL in epoch *seconds* (DynamoDB's unit); only on finished rows that need no one's attention. */
  readonly expiresAtSeconds?: number;
}

/** The largest output kept on a row, as UTF-8 JSON. */
export const OUTPUT_MAX_BYTES = 16 * 1024;

/** `<scheduleId>@<firing>`: how people name an occurrence. */
export const formatKey = ({ scheduleId, firing }: OccurrenceKey): string => `${scheduleId}@${firing}`;

/** Reads {@link formatKey}'s form; `undefined` where there is no `@` between two non-empty parts. */
export function parseKey(text: string): OccurrenceKey | undefined {
  const at = text.indexOf("@");
  return at > 0 && at < text.length - 1 ? { scheduleId: text.slice(0, at), firing: text.slice(at + 1) } : undefined;
}

/** A head carries a recurring schedule on: never claimed, of the chain itself. Only heads have successors and pause or edit rules. */
export const isHead = (row: Pick<DueRow, "status" | "kind" | "fencingToken">): boolean =>
  row.status === "PENDING" && row.kind === "scheduled" && row.fencingToken === 0;

/**
 * Whether the row's message is on its way to readers that report nothing, and so cannot be taken back. The row says it itself,
 * since not everybody who asks knows the deployment's queues.
 */
export const isHandedOver = ({
  status,
  enqueuedToken,
  fencingToken,
}: Pick<DueRow, "status" | "fencingToken"> & Partial<Pick<Occurrence, "enqueuedToken">>): boolean =>
  status === "DISPATCHED" && enqueuedToken === fencingToken;

/** `<OccurrenceId>:<token>`: the name of one attempt. */
export const attemptId = (occurrenceId: string, fencingToken: number): string => `${occurrenceId}:${fencingToken}`;
