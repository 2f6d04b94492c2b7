import type { ScheduleItem } from "../../../lib/app/ports.ts";
import type { Instant } from "../../../lib/core/instant.ts";
import type { DueRow, Occurrence } from "../../../lib/core/occurrence.ts";
import type { Process, Role } from "./process.ts";

/** One attempt at work: what the job's own code knows of itself. */
export interface AttemptName {
  readonly key: string;
  readonly token: number;
  readonly owner: string;
}

/** What an operator does, as far as the checkers must know of it. */
export type OperatorAction =
  | "put"
  | "pause"
  | "resume"
  | "delete"
  | "cancel"
  | "replay"
  | "backfill"
  | "run-now"
  | "redrive"
  | "discard"
  | "poison";

/** Something that happened in the simulated world, as an observer who sees everything would write it down. */
export type Fact =
  /** A row of the Occurrences table changed. */
  | { readonly type: "row"; readonly key: string; readonly old?: Occurrence; readonly new?: Occurrence }
  /** The table's TTL is about to remove a row. */
  | { readonly type: "expired"; readonly key: string; readonly row: Occurrence }
  /** An item of the Schedules table changed. */
  | { readonly type: "schedule"; readonly scheduleId: string; readonly old?: ScheduleItem; readonly new?: ScheduleItem }
  /** A process read a schedule, consistently. */
  | { readonly type: "schedule-read"; readonly scheduleId: string }
  /** SQS took a message; `swallowed`: it knew the deduplication id and delivers nothing. */
  | {
      readonly type: "sent";
      readonly key: string;
      readonly queue: string;
      readonly token: number;
      readonly deduplicationId: string;
      readonly swallowed: boolean;
    }
  | {
      readonly type: "delivered";
      readonly key: string;
      readonly token: number;
      readonly messageId: string;
      readonly receiveCount: number;
    }
  /** A worker holds a message no longer that it did not begin: it comes again. */
  | {
      readonly type: "given-back";
      readonly key: string;
      readonly token: number;
      readonly messageId: string;
      readonly how: "handed-back" | "lapsed";
    }
  /** The event source, or a worker, deleted a message. */
  | { readonly type: "acknowledged"; readonly key: string; readonly token: number; readonly messageId: string }
  /** A process looked at the due index and saw these rows as due; `ahead`: others that it is about to wait for. */
  | {
      readonly type: "looked";
      readonly askedAt: Instant;
      readonly rows: readonly DueRow[];
      readonly ahead: readonly DueRow[];
    }
  /** A schedule's gate was passed: it is that run's turn. */
  | { readonly type: "turn-taken"; readonly scheduleId: string; readonly firing: string }
  /** Job code began, came to its end, or made an effect that a store fenced by (token) accepted or refused. */
  | {
      readonly type: "job-started";
      readonly attempt: AttemptName;
      readonly scheduledFor: Instant;
      readonly leaseUntil: Instant;
      readonly signal: AbortSignal;
    }
  | { readonly type: "job-ended"; readonly attempt: AttemptName; readonly outcome: string }
  | { readonly type: "effect"; readonly attempt: AttemptName; readonly accepted: boolean }
  /** A conditional write of one row was carried out; `applied`: its guard held. */
  | { readonly type: "write"; readonly key: string; readonly status: string; readonly applied: boolean }
  /** The bus took an event; `scheduleNews`: of which schedule and what of it, where it is of no run. */
  | {
      readonly type: "published";
      readonly detailType: string;
      readonly occurrenceId: string;
      readonly token: number;
      readonly scheduleNews?: string;
    }
  /** The record of what was written of a schedule at `writtenAt` has been processed. */
  | { readonly type: "reconciled"; readonly scheduleId: string; readonly writtenAt: Instant }
  | { readonly type: "record-lost"; readonly scheduleId?: string; readonly key?: string }
  | {
      readonly type: "operator";
      readonly action: OperatorAction;
      readonly phase: "asked" | "done";
      readonly name: string;
    }
  /** From here on a function's invocations begin with the code of that release. */
  | { readonly type: "deployed"; readonly role: Role; readonly release: string }
  | { readonly type: "fault"; readonly kind: string; readonly where: string }
  | {
      readonly type: "process";
      readonly what: "started" | "ended" | "killed" | "paused" | "thawed" | "failed" | "told-to-stop";
      readonly why?: string;
    }
  /** A line that a process logged at `warn` or above. */
  | { readonly type: "log"; readonly message: string; readonly fields?: Readonly<Record<string, unknown>> };

/** A fact, when it happened by the true time, and which process did it. */
export type Seen = Fact & { readonly at: Instant; readonly by: Process | undefined };
