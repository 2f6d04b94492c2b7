import { nextFiring } from "./firing/index.ts";
import { type Instant, later, plusMs } from "./instant.ts";
import { type DueRow, isHead, isTerminal, type Occurrence } from "./occurrence.ts";
import type { Schedule, ScheduleSnapshot } from "./schedule.ts";
import { isSameTiming } from "./schedule-version.ts";

/** How long a row waits for its turn before it is looked at again; the end of the holder brings it forward. */
export const TURN_WAIT_MS = 60_000;

/** How soon a row looks again that waits for what is about to happen: a run without a lease that it replaces, an older head that is due. */
const LOOK_AGAIN_MS = 1_000;

/**
 * Which of two waiting rows of one schedule comes first: the older instant, but what is backfilled comes after live work.
 * Missed firings that are caught up with are live work: they keep their place.
 */
export const compareTurns = (left: DueRow, right: DueRow): number =>
  Number(isBackfilled(left)) - Number(isBackfilled(right)) || left.scheduledFor - right.scheduledFor;

const isBackfilled = (row: DueRow): boolean => row.kind === "backfill" && row.misfire === undefined;

/** Whether a row stands for a missed firing that is being caught up with, and is not done. */
const isCatchingUp = (row: DueRow): boolean =>
  row.kind === "backfill" && row.misfire !== undefined && !isTerminal(row.status);

/**
 * Until when a head waits whose schedule's firings go in order, because of `older`, a row before it: one that is caught up with, or a
 * head that is late too. `undefined` where that one is none to wait for.
 */
export function waitsBehind(older: DueRow, now: Instant): Instant | undefined {
  if (isCatchingUp(older)) return plusMs(now, TURN_WAIT_MS);
  if (!isHead(older) || older.dueAt === undefined || older.firstDueAt > now) return undefined;
  return later(older.dueAt, plusMs(now, LOOK_AGAIN_MS));
}

/**
 * Whether `row` is the firing right after `before` by their schedule's own times: where that one had its turn in order, an older one is
 * left only if it has come since.
 */
export const isRightAfter = (row: DueRow, before: DueRow, { timing, version }: Schedule): boolean =>
  before.kind === "scheduled" &&
  isSameTiming(version, before.scheduleVersion) &&
  nextFiring(timing, before.scheduledFor)?.scheduledFor === row.scheduledFor;

/** What a row does whose schedule's runs must not overlap. */
export type Turn =
  | { readonly kind: "go" }
  | { readonly kind: "skip" }
  | { readonly kind: "wait"; readonly until: Instant }
  | { readonly kind: "replace"; readonly until: Instant };

/**
 * Whether it is `row`'s turn. `holder`: the run that the gate names, read after the gate; `undefined` where the gate is
 * missing or the run is gone. A run that will be retried, or was lost and will be claimed again, still holds its turn.
 */
export function turnOf(
  row: DueRow,
  policy: ScheduleSnapshot["overlap"],
  holder: Occurrence | undefined,
  now: Instant,
): Turn {
  if (policy === "allow" || holder === undefined || holder.firing === row.firing || isOver(holder, now))
    return { kind: "go" };
  // Only a head is passed over or takes another's place: what was asked for, caught up with or tried before waits.
  if (policy === "wait" || !isHead(row)) return { kind: "wait", until: plusMs(now, TURN_WAIT_MS) };
  if (policy === "skip") return { kind: "skip" };
  const until = mayBeAtWork(holder) ? leaseOf(holder, now) : now;
  return { kind: "replace", until: until > now ? until : plusMs(now, LOOK_AGAIN_MS) };
}

/** When the turn of a run that is over is free: at once, or when the lease ends that a cancel left to whoever may work at it. */
export const turnIsFreeAt = (ended: Occurrence, now: Instant): Instant =>
  isOver(ended, now) ? now : leaseOf(ended, now);

const leaseOf = (holder: Occurrence, now: Instant): Instant => holder.leaseUntil ?? now;

/**
 * A run is over when it reported its end itself; one that was cancelled, when its runner stood down, when the lease that was left to
 * it has run out, or at once where nobody had started it: its message finds nothing to start.
 */
const isOver = (holder: Occurrence, now: Instant): boolean =>
  isTerminal(holder.status) && (holder.status !== "CANCELLED" || !mayBeAtWork(holder) || leaseOf(holder, now) <= now);

/** Whether somebody may work at a run: at one that was cancelled, which took its token one further, until its runner has stood down. */
const mayBeAtWork = ({ status, log, fencingToken }: Occurrence): boolean =>
  status === "RUNNING" ||
  (status === "CANCELLED" && log.some((entry) => entry.token === fencingToken - 1 && entry.endedAt === undefined));
