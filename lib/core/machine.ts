import type { Guard } from "./guard.ts";
import type { Instant } from "./instant.ts";
import {
  type AttemptLogEntry,
  type CancelReason,
  DEAD_STATUSES,
  type MisfireDecision,
  type Occurrence,
  type OccurrenceStatus,
  type RecordedError,
  type SkipReason,
  UNFINISHED_STATUSES,
} from "./occurrence.ts";
import type { ScheduleSnapshot } from "./schedule.ts";

/** What can happen to an occurrence. Each event carries what its sender knows; `now` is the store's clock. */
export type OccurrenceEvent =
  /**
   * A dispatcher takes an attempt. `refresh`: the definition was edited and still fires at this instant. `endsEnqueued`: the
   * queue that it goes to promises no more than delivery. `settles`: as on the row.
   */
  | {
      readonly type: "claim";
      readonly owner: string;
      readonly refresh?: ScheduleSnapshot;
      readonly endsEnqueued?: boolean;
      readonly settles?: boolean;
    }
  /** The claim lease ran out and nobody started: send the same attempt once more. */
  | { readonly type: "claim-again"; readonly owner: string; readonly endsEnqueued?: boolean }
  /** SQS accepted the second send of an attempt: leave it to the queue. */
  | { readonly type: "queued"; readonly owner: string }
  /** SQS definitely refused the message: the attempt was none. */
  | { readonly type: "release"; readonly owner: string }
  /** SQS can never take this message. */
  | { readonly type: "reject"; readonly owner: string; readonly error: RecordedError }
  /** SQS has the message and that is all this queue promises. */
  | { readonly type: "enqueued"; readonly owner: string }
  /** A runner received the message of `token` and is about to run the job. */
  | {
      readonly type: "start";
      readonly token: number;
      readonly owner: string;
      readonly attempt: number;
      /** The nominal instant, by which the start is not recorded early. */
      readonly scheduledFor?: Instant;
      readonly logs?: string;
    }
  | { readonly type: "renew"; readonly token: number; readonly owner: string }
  | {
      readonly type: "succeed";
      readonly token: number;
      readonly owner: string;
      readonly log: readonly AttemptLogEntry[];
      readonly output?: string;
    }
  /** The job failed. `delayMs`: until the next attempt, if one is left; `permanent`: none is wanted. */
  | {
      readonly type: "fail";
      readonly token: number;
      readonly owner: string;
      readonly log: readonly AttemptLogEntry[];
      readonly error: RecordedError;
      readonly permanent: boolean;
      readonly delayMs: number;
    }
  /** The lease of the last attempt ran out. */
  | { readonly type: "worker-lost" }
  /** The start deadline passed. */
  | { readonly type: "never-started" }
  | {
      readonly type: "skip";
      readonly reason: SkipReason;
      readonly misfire?: MisfireDecision;
      readonly settles?: boolean;
    }
  /** A head met its misfire policy: put the decision on it before anything follows from it. */
  | { readonly type: "decide"; readonly misfire: MisfireDecision }
  /** Not its turn yet: look again at `dueAt`. */
  | { readonly type: "defer"; readonly dueAt: Instant }
  | { readonly type: "cancel"; readonly reason: CancelReason }
  /** The job of a run that was cancelled meanwhile has come to its end: nobody works at it any more. */
  | {
      readonly type: "stand-down";
      readonly token: number;
      readonly owner: string;
      readonly log: readonly AttemptLogEntry[];
      readonly error?: RecordedError;
    }
  /** A dead letter is wanted once more. `diedAt`: only while it is open, as it was seen to be. */
  | { readonly type: "replay"; readonly diedAt?: Instant }
  /** A firing that was passed over is wanted after all. `refresh`: as the definition that stands now says. */
  | { readonly type: "backfill"; readonly refresh?: ScheduleSnapshot }
  /** An operator needs a dead letter no longer. */
  | { readonly type: "discard" };

export type OccurrenceEventType = OccurrenceEvent["type"];

/** One row of the machine's table: from where an event leads to where. Code, tests and the documentation's diagram follow it. */
export interface TransitionRule {
  readonly from: readonly OccurrenceStatus[];
  readonly to: readonly OccurrenceStatus[];
}

/** The machine. An event that meets a row in another state is refused; a state that no rule leaves stays for ever. */
export const TRANSITIONS = {
  claim: { from: ["PENDING", "RETRYING", "RUNNING"], to: ["DISPATCHED"] },
  "claim-again": { from: ["DISPATCHED"], to: ["DISPATCHED"] },
  queued: { from: ["DISPATCHED"], to: ["DISPATCHED"] },
  release: { from: ["DISPATCHED"], to: ["PENDING"] },
  reject: { from: ["DISPATCHED"], to: ["FAILED"] },
  enqueued: { from: ["DISPATCHED"], to: ["SUCCEEDED"] },
  start: { from: ["DISPATCHED"], to: ["RUNNING"] },
  renew: { from: ["RUNNING"], to: ["RUNNING"] },
  succeed: { from: ["RUNNING"], to: ["SUCCEEDED"] },
  fail: { from: ["RUNNING"], to: ["RETRYING", "FAILED", "DEAD_LETTERED"] },
  "worker-lost": { from: ["RUNNING"], to: ["DEAD_LETTERED"] },
  "never-started": { from: ["PENDING", "RETRYING", "DISPATCHED"], to: ["DEAD_LETTERED"] },
  skip: { from: ["PENDING"], to: ["SKIPPED"] },
  decide: { from: ["PENDING"], to: ["PENDING"] },
  defer: { from: ["PENDING", "RETRYING", "RUNNING"], to: ["PENDING", "RETRYING", "RUNNING"] },
  cancel: { from: UNFINISHED_STATUSES, to: ["CANCELLED"] },
  "stand-down": { from: ["CANCELLED"], to: ["CANCELLED"] },
  replay: { from: DEAD_STATUSES, to: ["PENDING"] },
  backfill: { from: ["SKIPPED"], to: ["PENDING"] },
  discard: { from: DEAD_STATUSES, to: DEAD_STATUSES },
} as const satisfies Record<OccurrenceEventType, TransitionRule>;

/** What a write does to a row: attributes set, counters moved, log entries added, attributes removed. */
export interface Change {
  readonly set: Readonly<Partial<Occurrence>>;
  readonly add?: { readonly attempts?: number; readonly fencingToken?: number };
  readonly appendLog?: AttemptLogEntry;
  readonly remove?: readonly (keyof Occurrence)[];
}

/** The next state, as one conditional write. */
export interface TransitionWrite {
  readonly kind: "write";
  readonly guard: Guard;
  readonly change: Change;
}

/** The write that an event becomes; or why it does not apply to the row as it was read. */
export type Transition = TransitionWrite | { readonly kind: "refused"; readonly reason: string };

/** The settings a transition depends on. */
export interface TransitionSettings {
  readonly historySeconds: number;
}
