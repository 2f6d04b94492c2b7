import { formatProblems } from "../../core/errors.ts";
import { type Firing, firesAt, nextFiring } from "../../core/firing/index.ts";
import { type Instant, later, plusMs } from "../../core/instant.ts";
import { keyAt, newHead } from "../../core/new-occurrence.ts";
import { type DueRow, isHead, type Occurrence, type OccurrenceStatus } from "../../core/occurrence.ts";
import {
  parseSchedule,
  type Schedule,
  type ScheduleResult,
  type ScheduleState,
  type ScheduleStatus,
} from "../../core/schedule.ts";
import { transition } from "../../core/transition.ts";
import type { ScheduleItem, WriteVerdict } from "../ports.ts";
import { ensureHeads, FIRST_INSTANT_KEY, LAST_INSTANT_KEY } from "./chain.ts";
import type { Engine } from "./engine.ts";
import { writeSettled } from "./settle.ts";

/** How often one call starts over because the schedule changed under it; a further change brings a record of its own. */
const STARTS_MAX = 5;
/** Newest rows read at a time in search of the chain's end, and how often: only a backfill lays that many rows before it. */
const RECENT_ROWS = 50;
const RECENT_PAGES_MAX = 20;
/** Rows read at a time, and how often, to cancel what a deleted schedule left unfinished. */
const CANCEL_PAGE = 200;
const CANCEL_PAGES_MAX = 500;

const UNFINISHED: readonly OccurrenceStatus[] = ["PENDING", "DISPATCHED", "RUNNING", "RETRYING"];

/** What a reconcile found and did. */
export interface ReconcileOutcome {
  readonly state: ScheduleState | "DELETED" | "OUTDATED";
  /** Whether it had anything to mend: a head inserted or removed, a run cancelled, a status written. */
  readonly changed: boolean;
}

/** The change that calls for a reconcile: when it was written, and the version it wrote (`undefined`: a deletion). */
export interface Written {
  readonly at: Instant;
  readonly version: string | undefined;
}

/**
 * Makes the chain of one schedule what its definition says, whatever happened before: idempotent, and safe beside
 * dispatchers and other reconciles. The schedule is read consistently; `written` (from the stream record that called for
 * this, where one did) only says from when a new, edited or resumed definition counts.
 */
export async function reconcile(engine: Engine, scheduleId: string, written?: Written): Promise<ReconcileOutcome> {
  for (let start = 0; start < STARTS_MAX; start += 1) {
    const outcome = await reconcileOnce(engine, scheduleId, written);
    if (outcome !== "changed-meanwhile") return outcome;
  }
  throw new Error(
    `schedule ${scheduleId} changed ${STARTS_MAX} times while it was reconciled; its next record goes on`,
  );
}

async function reconcileOnce(
  engine: Engine,
  scheduleId: string,
  change: Written | undefined,
): Promise<ReconcileOutcome | "changed-meanwhile"> {
  const [reading] = await engine.schedules.read([scheduleId]);
  if (reading === undefined || reading.kind === "failed")
    throw new Error(`schedule ${scheduleId} could not be read`, { cause: reading?.error });
  // After the schedule: a head that is due by this clock is the dispatcher's, whatever the definition says.
  const heads = await findHeads(engine, scheduleId);
  if (reading.kind === "missing") return removeDeleted(engine, scheduleId, heads);

  const parsed = parseSchedule(reading.row, engine.settings.limits);
  const now = engine.clock.now();
  const fires = firesBy(parsed);
  const unwanted = heads.rows.filter((head) => isFuture(head, now) && !fires(head));
  for (const head of unwanted)
    if ((await engine.occurrences.removeHead(head, reading.row)) === "refused") return "changed-meanwhile";
  // The record of a newer definition is on its way, and only that one knows from when it counts.
  if (change !== undefined && change.version !== versionOf(parsed))
    return { state: "OUTDATED", changed: unwanted.length > 0 };
  const plan = await planOf(engine, parsed, heads, now, change?.at);
  const inserted = plan.wanted !== undefined && (await keepChain(engine, plan.wanted));
  const written = await writeStatus(engine, reading.row, parsed, plan);
  if (written === "refused") return "changed-meanwhile";
  return { state: plan.state, changed: unwanted.length > 0 || inserted || written === "written" };
}

/** A schedule's heads among its newest rows, and the newest row of its chain by version. */
interface Heads {
  readonly rows: readonly Occurrence[];
  readonly newestOfVersion: ReadonlyMap<string, Instant>;
}

async function findHeads(engine: Engine, scheduleId: string): Promise<Heads> {
  let cursor: string | undefined;
  let chain: readonly Occurrence[] = [];
  for (let page = 0; page < RECENT_PAGES_MAX && chain.length === 0; page += 1) {
    const read = await engine.occurrences.history({
      scheduleId,
      from: FIRST_INSTANT_KEY,
      to: LAST_INSTANT_KEY,
      newestFirst: true,
      limit: RECENT_ROWS,
      ...(cursor !== undefined && { cursor }),
    });
    chain = read.rows.filter(({ kind }) => kind === "scheduled");
    cursor = read.cursor;
    if (cursor === undefined) break;
  }
  // Newest first: the first of each version is its newest.
  const newestOfVersion = new Map(chain.toReversed().map((row) => [row.scheduleVersion, row.scheduledFor]));
  return { rows: chain.filter(isHead), newestOfVersion };
}

const versionOf = (parsed: ScheduleResult): string =>
  parsed.kind === "valid" ? parsed.schedule.version : parsed.version;

const statusOf = (parsed: ScheduleResult): ScheduleStatus | undefined =>
  parsed.kind === "valid" ? parsed.schedule.status : parsed.status;

const isFuture = (head: DueRow, now: Instant): boolean => head.dueAt !== undefined && head.dueAt > now;

/** Whether the definition as read fires at a head's instant; an unusable, disabled or paused one fires nothing. */
function firesBy(parsed: ScheduleResult): (head: DueRow) => boolean {
  if (parsed.kind === "invalid" || !parsed.schedule.enabled || parsed.schedule.paused) return () => false;
  return (head) => firesAt(parsed.schedule.timing, head.scheduledFor) !== undefined;
}

/** What a schedule's state is, from when that counts, and which firing its chain needs, if it needs one. */
interface Plan {
  readonly state: ScheduleState;
  readonly since: Instant;
  readonly wanted?: { readonly schedule: Schedule; readonly firing: Firing; readonly mayExist: boolean };
}

async function planOf(
  engine: Engine,
  parsed: ScheduleResult,
  heads: Heads,
  now: Instant,
  writtenAt: Instant | undefined,
): Promise<Plan> {
  const status = statusOf(parsed);
  const version = versionOf(parsed);
  const idle = idleState(parsed);
  const known = status !== undefined && status.version === version;
  if (parsed.kind === "invalid" || idle !== undefined) {
    const state = idle ?? "INVALID";
    return { state, since: known && status.state === state ? status.since : (writtenAt ?? now) };
  }
  const { schedule } = parsed;
  // New, edited, or started again: it counts from when that was written, not from when this, or a sweep before it, got to it.
  const idleBefore = known && status.state !== "ACTIVE" && status.state !== "ENDED";
  const fresh = !known || idleBefore || (writtenAt !== undefined && writtenAt < status.since);
  const resumedAt = schedule.resumedAt;
  const counted = fresh ? (writtenAt ?? now) : status.since;
  const since = resumedAt === undefined ? counted : later(resumedAt, counted);
  if (schedule.timing.kind === "at") return planOneShot(engine, schedule, since, now);

  const after = fresh ? since : newestAfter(schedule, heads, since, now);
  const standing = heads.rows.some((head) => isFuture(head, now) && head.scheduleVersion === version);
  const next = fresh || !standing ? nextFiring(schedule.timing, after) : undefined;
  if (next !== undefined) return { state: "ACTIVE", since, wanted: { schedule, firing: next, mayExist: fresh } };
  return { state: heads.rows.length > 0 ? "ACTIVE" : "ENDED", since };
}

function idleState(parsed: ScheduleResult): ScheduleState | undefined {
  if (parsed.kind === "invalid") return "INVALID";
  if (!parsed.schedule.enabled) return "DISABLED";
  return parsed.schedule.paused ? "PAUSED" : undefined;
}

/**
 * A chain that is mended goes on from its newest row: what lies before that was dealt with. Where no row tells, it goes no
 * further back than a catch-up would.
 */
function newestAfter(schedule: Schedule, heads: Heads, since: Instant, now: Instant): Instant {
  const newest = heads.newestOfVersion.get(schedule.version);
  if (newest !== undefined) return later(newest, since);
  const floor = plusMs(now, -schedule.snapshot.misfirePolicy.catchupWindowSeconds * 1000);
  return later(floor, since);
}

/** A one-shot without a row is owed as long as its instant lies within the catch-up window, also where that has passed. */
async function planOneShot(engine: Engine, schedule: Schedule, since: Instant, now: Instant): Promise<Plan> {
  const windowMs = schedule.snapshot.misfirePolicy.catchupWindowSeconds * 1000;
  let firing = nextFiring(schedule.timing, plusMs(now, -windowMs - 1));
  // At most two: a local time that occurs twice.
  while (firing !== undefined) {
    const [standing] = await engine.occurrences.read([keyAt(schedule.scheduleId, firing.scheduledFor)]);
    if (standing?.kind !== "found") return { state: "ACTIVE", since, wanted: { schedule, firing, mayExist: true } };
    if (isHead(standing.row)) return { state: "ACTIVE", since };
    firing = nextFiring(schedule.timing, firing.scheduledFor);
  }
  return { state: "ENDED", since };
}

/** Inserts the wanted head. Answers whether anything was inserted. */
async function keepChain(engine: Engine, wanted: NonNullable<Plan["wanted"]>): Promise<boolean> {
  const { schedule, firing } = wanted;
  if (schedule.timing.kind === "at") {
    const head = newHead(schedule, firing, engine.clock.now(), engine.settings.shards);
    const [verdict] = await engine.occurrences.insert([head]);
    if (verdict?.kind === "failed" || verdict?.kind === "unknown") throw verdict.error;
    return verdict?.kind === "inserted";
  }
  const [standing] = await ensureHeads(engine, [{ schedule, firing }]);
  if (!standing) throw new Error(`the next firing of schedule ${schedule.scheduleId} could not be inserted`);
  return !wanted.mayExist;
}

async function writeStatus(
  engine: Engine,
  asRead: ScheduleItem,
  parsed: ScheduleResult,
  { state, since }: Plan,
): Promise<"unchanged" | "written" | "refused"> {
  const problem = parsed.kind === "invalid" ? formatProblems(parsed.problems) : undefined;
  const version = versionOf(parsed);
  const known = statusOf(parsed);
  // Writing it calls for a reconcile of its own: only a change is worth that.
  if (known?.state === state && known.version === version && known.since === since && known.problem === problem)
    return "unchanged";
  const warnings = parsed.kind === "valid" ? parsed.schedule.warnings : [];
  return engine.schedules.setStatus(asRead, {
    state,
    version,
    since,
    ...(problem !== undefined && { problem }),
    ...(warnings.length > 0 && { warnings }),
  });
}

/** A deleted schedule's future heads are removed, so that one put again finds its instants free; all else unfinished is cancelled. */
async function removeDeleted(
  engine: Engine,
  scheduleId: string,
  heads: Heads,
): Promise<ReconcileOutcome | "changed-meanwhile"> {
  const now = engine.clock.now();
  const future = heads.rows.filter((head) => isFuture(head, now));
  for (const head of future)
    if ((await engine.occurrences.removeHead(head, undefined)) === "refused") return "changed-meanwhile";
  let cancelled = 0;
  let cursor: string | undefined;
  for (let page = 0; page < CANCEL_PAGES_MAX; page += 1) {
    const read = await engine.occurrences.history({
      scheduleId,
      newestFirst: true,
      limit: CANCEL_PAGE,
      statuses: UNFINISHED,
      ...(cursor !== undefined && { cursor }),
    });
    const verdicts = await cancelRows(engine, read.rows);
    // A row that moved on meanwhile is to be cancelled as it is now.
    if (verdicts.some(({ kind }) => kind === "refused")) return "changed-meanwhile";
    const failure = verdicts.find((verdict) => verdict.kind === "failed" || verdict.kind === "unknown");
    if (failure) throw new Error(`not all runs of schedule ${scheduleId} could be cancelled`, { cause: failure.error });
    cancelled += verdicts.length;
    cursor = read.cursor;
    if (cursor === undefined) return { state: "DELETED", changed: future.length + cancelled > 0 };
  }
  throw new Error(`schedule ${scheduleId} left more unfinished runs than one visit cancels; the next goes on`);
}

/** Heads that are due are the dispatcher's to pass over; what a plain reader of SQS may already have cannot be taken back. */
async function cancelRows(engine: Engine, rows: readonly Occurrence[]): Promise<readonly WriteVerdict[]> {
  const isOut = (row: Occurrence) =>
    row.status === "DISPATCHED" && engine.settings.completedWhenEnqueued.has(row.queue);
  const writes = rows.flatMap((row) => {
    const next = transition(row, { type: "cancel" }, engine.clock.now(), engine.settings);
    if (next.kind === "refused" || isHead(row) || isOut(row)) return [];
    const key = { scheduleId: row.scheduleId, firing: row.firing };
    return [{ key, guard: next.guard, change: next.change, isMine: (now: Occurrence) => now.status === "CANCELLED" }];
  });
  return writeSettled(engine, writes);
}
