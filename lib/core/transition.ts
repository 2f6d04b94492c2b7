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
  type Change,
  type OccurrenceEvent,
  TRANSITIONS,
  type Transition,
  type TransitionRule,
  type TransitionSettings,
  type TransitionWrite,
} from "./machine.ts";
import { DEAD_STATUSES, type DueRow, isHandedOver, isHead, type Occurrence } from "./occurrence.ts";
import {
  closed,
  deadLetter,
  expiry,
  failed,
  finished,
  revived,
  snapshotOf,
  succeeded,
  wantedAfterAll,
} from "./transition-ends.ts";

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
