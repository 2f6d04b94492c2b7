import { formatProblems } from "../../core/errors.ts";
import { type Firing, firesAt, nextFiring } from "../../core/firing/index.ts";
import { type Instant, later, plusMs } from "../../core/instant.ts";
import { keyAt, newHead } from "../../core/new-occurrence.ts";
import { type DueRow, isHead } from "../../core/occurrence.ts";
import {
  parseSchedule,
  type Schedule,
  type ScheduleResult,
  type ScheduleState,
  type ScheduleStatus,
} from "../../core/schedule.ts";
import { areHashedAlike, isSameTiming } from "../../core/schedule-version.ts";
import type { ScheduleItem } from "../ports.ts";
import { ensureHeads } from "./chain.ts";
import { isRemovedAsComplete } from "./complete.ts";
import type { Engine } from "./engine.ts";
import { findHeads, type Heads, isBeforeItsInstant, isFuture } from "./heads.ts";
import { removeDeleted } from "./remove-deleted.ts";

/** How often one call starts over because the schedule changed under it; a further change brings a record of its own. */
const STARTS_MAX = 5;
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
  const unwanted = heads.rows.filter((head) => isBeforeItsInstant(head, now) && !fires(head));
  for (const head of unwanted)
    if ((await engine.occurrences.removeHead(head, reading.row)) === "refused") return "changed-meanwhile";
  if (change !== undefined && isOutdated(change, parsed)) return { state: "OUTDATED", changed: unwanted.length > 0 };
  const left = { ...heads, rows: heads.rows.filter((head) => !unwanted.includes(head)) };
  const plan = await planOf(engine, parsed, left, now, change?.at);
  const inserted = plan.wanted !== undefined && (await keepChain(engine, plan.wanted));
  const written = await writeStatus(engine, reading.row, parsed, plan);
  if (written === "refused") return "changed-meanwhile";
  if (await isRemovedAsComplete(engine, reading.row, parsed, plan.state)) return { state: "DELETED", changed: true };
  return { state: plan.state, changed: unwanted.length > 0 || inserted || written === "written" };
}

const versionOf = (parsed: ScheduleResult): string =>
  parsed.kind === "valid" ? parsed.schedule.version : parsed.version;

const statusOf = (parsed: ScheduleResult): ScheduleStatus | undefined =>
  parsed.kind === "valid" ? parsed.schedule.status : parsed.status;

/** A record's instant is rounded down to the second, and clocks differ a little: what lies this close is not older. */
const RECORD_MARGIN_MS = 2_000;

/**
 * Whether a change is not the one that the standing definition came from: the record of a newer one is on its way, and only
 * that one knows from when it counts. One older than what the status says of another definition was told once more.
 */
function isOutdated({ at, version }: Written, parsed: ScheduleResult): boolean {
  const standing = versionOf(parsed);
  if (version !== standing) return true;
  const status = statusOf(parsed);
  return (
    status?.version !== undefined &&
    status.version !== standing &&
    areHashedAlike(status.version, standing) &&
    plusMs(at, RECORD_MARGIN_MS) < status.since
  );
}

/** Whether the definition as read fires at a head's instant; an unusable, disabled or paused one fires nothing. */
function firesBy(parsed: ScheduleResult): (head: DueRow) => boolean {
  if (parsed.kind === "invalid" || !parsed.schedule.enabled || parsed.schedule.paused) return () => false;
  return (head) => firesAt(parsed.schedule.timing, head.scheduledFor) !== undefined;
}

/** What a schedule's state is, from when that counts, and which firing its chain needs, if it needs one. */
interface Plan {
  readonly state: ScheduleState;
  readonly since: Instant;
  /** Nobody knows yet when the definition was written: its record will say. */
  readonly provisional?: boolean;
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
  const unknownSince = known && status.provisional === true && writtenAt !== undefined && writtenAt < status.since;
  const fresh = !known || idleBefore || unknownSince;
  const resumedAt = schedule.resumedAt;
  const counted = fresh ? (writtenAt ?? now) : status.since;
  const since = resumedAt === undefined ? counted : later(resumedAt, counted);
  const provisional = fresh ? writtenAt === undefined : status.provisional === true;
  const plan = { since, ...(provisional && { provisional }) };
  if (schedule.timing.kind === "at") return { ...plan, ...(await planOneShot(engine, schedule, now)) };

  const after = fresh ? since : newestAfter(schedule, heads, since, now);
  // Of an edit that left the times alone the head stands as it was; it is brought up to date when it is claimed.
  const standing = heads.rows.some((head) => isFuture(head, now) && isSameTiming(head.scheduleVersion, version));
  const next = fresh || !standing ? nextFiring(schedule.timing, after) : undefined;
  if (next !== undefined) return { ...plan, state: "ACTIVE", wanted: { schedule, firing: next, mayExist: fresh } };
  return { ...plan, state: heads.rows.length > 0 ? "ACTIVE" : "ENDED" };
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
async function planOneShot(engine: Engine, schedule: Schedule, now: Instant): Promise<Pick<Plan, "state" | "wanted">> {
  const windowMs = schedule.snapshot.misfirePolicy.catchupWindowSeconds * 1000;
  let firing = nextFiring(schedule.timing, plusMs(now, -windowMs - 1));
  // At most two: a local time that occurs twice.
  while (firing !== undefined) {
    const [standing] = await engine.occurrences.read([keyAt(schedule.scheduleId, firing.scheduledFor)]);
    if (standing === undefined || standing.kind === "failed")
      throw standing?.error ?? new Error(`the firing of schedule ${schedule.scheduleId} could not be read`);
    if (standing.kind === "missing") return { state: "ACTIVE", wanted: { schedule, firing, mayExist: true } };
    if (isHead(standing.row)) return { state: "ACTIVE" };
    firing = nextFiring(schedule.timing, firing.scheduledFor);
  }
  return { state: "ENDED" };
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
  { state, since, provisional }: Plan,
): Promise<"unchanged" | "written" | "refused"> {
  const problem = parsed.kind === "invalid" ? formatProblems(parsed.problems) : undefined;
  const version = versionOf(parsed);
  const known = statusOf(parsed);
  const same = known?.state === state && known.version === version && known.since === since;
  // Writing it calls for a reconcile of its own: only a change is worth that.
  if (same && known.problem === problem && known.provisional === provisional) return "unchanged";
  const warnings = parsed.kind === "valid" ? parsed.schedule.warnings : [];
  return engine.schedules.setStatus(asRead, {
    state,
    version,
    since,
    ...(provisional && { provisional }),
    ...(problem !== undefined && { problem }),
    ...(warnings.length > 0 && { warnings }),
  });
}
