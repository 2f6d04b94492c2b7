import {
  attemptsBelow,
  deadLetteredAtIs,
  dueAtIs,
  type Guard,
  leaseUntilAtMost,
  ownerIs,
  statusIn,
  statusIs,
  tokenIs,
  versionIs,
} from "./guard.ts";
import { type Instant, later, plusMs } from "./instant.ts";
import { LEASES } from "./lease.ts";
import {
  ATTEMPT_LOG_MAX,
  type AttemptLogEntry,
  type CancelReason,
  DEAD_STATUSES,
  type DeadLetterReason,
  type DueRow,
  isHandedOver,
  isHead,
  type MisfireDecision,
  type Occurrence,
  type OccurrenceStatus,
  OUTPUT_MAX_BYTES,
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

/**
 * What `event` does to `row` at `now`: pure, and one conditional write whatever happens. The guard repeats everything the
 * decision rests on, so losing the race is an ordinary outcome and never an error.
 *
 * A report (`start`, `renew`, `succeed`, `fail`, `stand-down`) is decided on the row that its sender last saw, but guarded by the
 * token and owner it carries.
 */
export function transition(
  row: DueRow & Partial<Pick<Occurrence, "log" | "enqueuedToken">>,
  event: OccurrenceEvent,
  now: Instant,
  settings: TransitionSettings,
): Transition {
  const rule: TransitionRule = TRANSITIONS[event.type];
  if (!rule.from.includes(row.status))
    return { kind: "refused", reason: `${event.type} needs ${rule.from.join(" or ")}, the row is ${row.status}` };
  switch (event.type) {
    case "claim":
      return claim(row, event, now);
    case "claim-again":
      return lapsed(row, now) ?? write([...asSeen(row)], { set: claimedAgain(row, event, now) });
    case "queued":
      return write(heldBy(row, event.owner), { set: held(event.owner, row, now, LEASES.queueLeaseMs) });
    case "release":
      return release(row, event.owner, now);
    case "reject":
      return write(heldBy(row, event.owner), deadLetter(row, "FAILED", "rejected-by-queue", now, event.error));
    case "enqueued":
      return write(heldBy(row, event.owner), finished(row, "SUCCEEDED", now, settings));
    case "start":
      return startTransition(event, now);
    case "renew":
      return renewal(row, event, now);
    case "succeed":
      return write(reportedBy(event), succeeded(row, event, now, settings));
    case "fail":
      return write(reportedBy(event), failed(row, event, now));
    case "worker-lost":
      return row.attempts < row.maxAttempts
        ? { kind: "refused", reason: "attempts are left" }
        : (lapsed(row, now) ?? write(asSeen(row), deadLetter(row, "DEAD_LETTERED", "worker-lost", now)));
    case "never-started":
      // A head that comes up late has met an outage: that is for its misfire policy to judge.
      return isHead(row) || now < startDeadline(row)
        ? { kind: "refused", reason: "the start deadline has not passed" }
        : // It took no token of its own: replayed, and given up once more unclaimed, it would be the same dead letter again.
          write(asSeen(row), {
            ...deadLetter(row, "DEAD_LETTERED", "never-started", now),
            add: { fencingToken: 1 },
          });
    case "skip":
      return write(asSeen(row), {
        ...finished(row, "SKIPPED", now, settings, {
          skipReason: event.reason,
          ...(event.misfire && { misfire: event.misfire }),
          ...(event.settles && { settles: true }),
        }),
      });
    case "decide":
      // The new due time makes every other visit's guard fail that has not seen the decision.
      return write(asSeen(row), { set: { misfire: event.misfire, dueAt: now } });
    case "defer":
      return write(asSeen(row), { set: { dueAt: event.dueAt } });
    case "cancel":
      if (isHandedOver(row)) return { kind: "refused", reason: HANDED_OVER };
      // `leaseUntil` stays: whoever still runs may do so until then, or stands down before, and no gate must open earlier.
      return write(sameHolder(row), {
        ...finished(row, "CANCELLED", now, settings, {
          cancelReason: event.reason,
          // It may have been the last of its schedule, which nobody but a reconcile knows.
          ...(event.reason === "requested" && { settles: true }),
        }),
        add: { fencingToken: 1 },
      });
    case "stand-down":
      // The cancel took the token one further.
      return write([statusIs("CANCELLED"), tokenIs(event.token + 1), ownerIs(event.owner)], {
        set: { log: closed(event, now, event.error) },
      });
    case "replay":
      return write(
        [
          statusIn(DEAD_STATUSES),
          tokenIs(row.fencingToken),
          ...(event.diedAt === undefined ? [] : [deadLetteredAtIs(event.diedAt)]),
        ],
        revived(row, row.kind, now),
      );
    case "backfill":
      return write([statusIs("SKIPPED"), tokenIs(row.fencingToken)], wantedAfterAll(row, event.refresh, now));
    case "discard":
      return write([statusIn(DEAD_STATUSES), tokenIs(row.fencingToken)], {
        set: { expiresAtSeconds: expiry(row, now, settings) },
        remove: ["deadLetterShard", "deadLetteredAt"],
      });
    default:
      return event satisfies never;
  }
}

/** The instant past which an attempt that has not started is a dead letter. */
export const startDeadline = (row: Pick<DueRow, "firstDueAt" | "startDeadlineSeconds">): Instant =>
  plusMs(row.firstDueAt, row.startDeadlineSeconds * 1000);

const write = (guard: Guard, change: Change): TransitionWrite => ({ kind: "write", guard, change });

/** The row is in the hands in which it was seen: state, token and holder. */
const sameHolder = (row: DueRow): Guard => [
  statusIs(row.status),
  tokenIs(row.fencingToken),
  ...(row.owner === undefined ? [] : [ownerIs(row.owner)]),
];

/** The row is still as it was seen, due time included. */
const asSeen = (row: DueRow): Guard => [...sameHolder(row), ...(row.dueAt === undefined ? [] : [dueAtIs(row.dueAt)])];

/** The row is this dispatcher's own claim, not yet taken further by anyone. */
const heldBy = (row: DueRow, owner: string): Guard => [
  statusIs("DISPATCHED"),
  tokenIs(row.fencingToken),
  ownerIs(owner),
];

/** The reporter still holds the row. */
const reportedBy = (event: { readonly token: number; readonly owner: string }): Guard => [
  statusIs("RUNNING"),
  tokenIs(event.token),
  ownerIs(event.owner),
];

const leased = (now: Instant, leaseMs: number): Partial<Occurrence> => {
  const until = plusMs(now, leaseMs);
  return { leaseUntil: until, dueAt: until };
};

/** A dispatcher's or the queue's lease: never past the start deadline, so that a run never started is noticed on time. */
function held(owner: string, row: Pick<DueRow, "firstDueAt" | "startDeadlineSeconds">, now: Instant, leaseMs: number) {
  const until = Math.max(Math.min(plusMs(now, leaseMs), startDeadline(row)), now + 1);
  return { owner, ...leased(now, until - now) };
}

const claimedAgain = (
  row: DueRow,
  { owner, endsEnqueued }: Extract<OccurrenceEvent, { type: "claim-again" }>,
  now: Instant,
): Partial<Occurrence> => ({
  ...held(owner, row, now, LEASES.claimLeaseMs),
  ...(endsEnqueued && { enqueuedToken: row.fencingToken }),
});

/** Why a run that went to plain readers cannot be cancelled. */
const HANDED_OVER =
  "its queue's readers take messages as they come (completion is enqueued): SQS has this one, or may have, and it cannot be taken back";

/** Refuses while somebody's lease is still running. */
const lapsed = (row: DueRow, now: Instant): Transition | undefined =>
  row.leaseUntil !== undefined && now < row.leaseUntil
    ? { kind: "refused", reason: "the lease has not run out" }
    : undefined;

function claim(row: DueRow, event: Extract<OccurrenceEvent, { type: "claim" }>, now: Instant): Transition {
  const fresh = event.refresh;
  const maxAttempts = fresh?.retry.maxAttempts ?? row.maxAttempts;
  if (row.dueAt === undefined || now < row.dueAt) return { kind: "refused", reason: "it is not due" };
  if (row.attempts >= maxAttempts) return { kind: "refused", reason: "attempts are used up" };
  const crashed = row.status === "RUNNING";
  const alive = crashed ? lapsed(row, now) : undefined;
  if (alive) return alive;
  // The start deadline counts from when this attempt first fell due: a head's from its first claim (what made it late is
  // the misfire policy's business), a lost worker's from its lease end.
  const firstDueAt = row.fencingToken === 0 && row.kind === "scheduled" ? now : crashed ? row.dueAt : row.firstDueAt;
  const startDeadlineSeconds = fresh?.startDeadlineSeconds ?? row.startDeadlineSeconds;
  return write([...asSeen(row), attemptsBelow(maxAttempts), versionIs(row.scheduleVersion)], {
    set: {
      status: "DISPATCHED",
      claimedAt: now,
      firstDueAt,
      ...held(event.owner, { firstDueAt, startDeadlineSeconds }, now, LEASES.claimLeaseMs),
      ...(fresh && snapshotOf(fresh)),
      ...(event.settles && { settles: true }),
      ...(crashed && { suspect: true }),
      ...(event.endsEnqueued && { enqueuedToken: row.fencingToken + 1 }),
    },
    add: { attempts: 1, fencingToken: 1 },
  });
}

function release(row: DueRow, owner: string, now: Instant): Transition {
  // Tokens taken without an attempt to show for them are refusals (or deaths): the longer in a row, the longer the wait.
  const refusals = Math.min(Math.max(row.fencingToken - row.attempts, 0), 10);
  const delayMs = Math.min(LEASES.releaseMaxMs, LEASES.releaseBaseMs * 2 ** refusals);
  return write(heldBy(row, owner), {
    set: { status: "PENDING", dueAt: plusMs(now, delayMs) },
    add: { attempts: -1 },
    remove: ["owner", "leaseUntil"],
  });
}

/**
 * The start of an attempt, which its runner decides on the message alone: DISPATCHED at the message's own token, or
 * nothing. Any other row is somebody else's business, and its own `dueAt` recovers what must be recovered.
 */
export function startTransition(event: Extract<OccurrenceEvent, { type: "start" }>, now: Instant): TransitionWrite {
  // Its claim was not before the instant. This runner's own reading may be: both are the earliest that the store's time can be.
  const behindMs = (event.scheduledFor ?? now) - now;
  const startedAt = behindMs > 0 && behindMs <= LEASES.leaseMarginMs ? plusMs(now, behindMs) : now;
  return write([statusIs("DISPATCHED"), tokenIs(event.token)], {
    set: { status: "RUNNING", owner: event.owner, startedAt, ...leased(now, LEASES.runLeaseMs) },
    appendLog: {
      token: event.token,
      attempt: event.attempt,
      startedAt,
      ...(event.logs !== undefined && { logs: event.logs }),
    },
  });
}

/** A renewal that arrives after a later one must not shorten the lease that one gave: its runner relies on it. */
function renewal(row: DueRow, event: Extract<OccurrenceEvent, { type: "renew" }>, now: Instant): Transition {
  const until = later(plusMs(now, LEASES.runLeaseMs), row.leaseUntil ?? now);
  return write([...reportedBy(event), leaseUntilAtMost(until)], { set: { leaseUntil: until, dueAt: until } });
}

function succeeded(
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

function failed(row: DueRow, event: Extract<OccurrenceEvent, { type: "fail" }>, now: Instant): Change {
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
function closed(
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
const expiry = (row: DueRow, now: Instant, settings: TransitionSettings): number =>
  Math.floor(later(now, row.scheduledFor) / 1000) + settings.historySeconds;

/** The end of a run that needs no one's attention: it leaves the due index, and its row may expire. */
const finished = (
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
const deadLetter = (
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
const revived = (row: Partial<Pick<Occurrence, "log">>, kind: Occurrence["kind"], now: Instant): Change => ({
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
function wantedAfterAll(
  row: Partial<Pick<Occurrence, "log">>,
  refresh: ScheduleSnapshot | undefined,
  now: Instant,
): Change {
  const { set, remove = [] } = revived(row, "backfill", now);
  return { set: { ...set, ...(refresh && snapshotOf(refresh)) }, remove: [...remove, "misfire"] };
}

/** What a row takes over of a definition. */
const snapshotOf = (snapshot: ScheduleSnapshot): Partial<Occurrence> => ({
  ...snapshot,
  maxAttempts: snapshot.retry.maxAttempts,
});
