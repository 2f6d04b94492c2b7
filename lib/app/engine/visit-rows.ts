import { errorMessage, formatProblems } from "../../core/errors.ts";
import type { Instant } from "../../core/instant.ts";
import { type DueRow, formatKey, type Occurrence } from "../../core/occurrence.ts";
import { parseSchedule } from "../../core/schedule.ts";
import { type OccurrenceEvent, transition } from "../../core/transition.ts";
import { decideHead, type ScheduleReading, visit } from "../../core/visit.ts";
import type { ReadVerdict, ScheduleItem } from "../ports.ts";
import { ensureHeads } from "./chain.ts";
import type { Engine } from "./engine.ts";
import { reconcile } from "./reconcile.ts";
import { type Claimed, sendClaimed } from "./send-claimed.ts";
import { type SettleableWrite, writeSettled } from "./settle.ts";

/** One row and what the dispatcher is about to make of it. */
interface Plan {
  readonly row: DueRow;
  readonly event: OccurrenceEvent;
}

/** What a visit came to. `moved`: rows that were written; the rest were stale, lost to another, or failed. */
export interface VisitSummary {
  readonly moved: number;
}

/**
 * Visits rows that the due index showed: claims what is due and sends it, passes over what must not run, ends what can
 * never run. Each row gets its own verdict; none holds up another.
 */
export async function visitRows(engine: Engine, rows: readonly DueRow[]): Promise<VisitSummary> {
  const now = engine.clock.now();
  const heads: DueRow[] = [];
  const plans: Plan[] = [];
  for (const row of rows) {
    const wanted = visit(row, now);
    if (wanted === "nothing") continue;
    if (wanted === "head") heads.push(row);
    else if (wanted === "claim" || wanted === "claim-again")
      plans.push({ row, event: { type: wanted, owner: engine.newNonce() } });
    else plans.push({ row, event: { type: wanted } });
  }
  const decided = await planHeads(engine, heads);
  plans.push(...decided.plans);
  const summary = await carryOut(engine, plans);
  await endSchedules(engine, decided.ended);
  return summary;
}

/** Says of schedules whose last firing was taken that they have ended. The sweep says it where this does not get to. */
async function endSchedules(engine: Engine, scheduleIds: readonly string[]): Promise<void> {
  for (const scheduleId of scheduleIds)
    try {
      await reconcile(engine, scheduleId);
    } catch (error) {
      engine.logger.warn("an ended schedule's status could not be written; the sweep does it", {
        scheduleId,
        error: errorMessage(error),
      });
    }
}

/** Decides heads by their schedules as they stand now, and sees to it that each chain goes on before its head is touched. */
async function planHeads(engine: Engine, heads: readonly DueRow[]): Promise<{ plans: Plan[]; ended: string[] }> {
  const scheduleIds = [...new Set(heads.map((row) => row.scheduleId))];
  if (scheduleIds.length === 0) return { plans: [], ended: [] };
  const verdicts = await engine.schedules.read(scheduleIds);
  const readings = new Map(scheduleIds.map((id, index) => [id, readingOf(engine, id, verdicts[index])]));
  const decided = heads.flatMap((row) => {
    const reading = readings.get(row.scheduleId);
    if (reading === undefined) return [];
    return [{ row, reading, decision: decideHead(row, reading, engine.clock.now()) }];
  });
  const chained = decided.flatMap(({ row, reading, decision }) =>
    reading.kind === "found" && decision.successor !== undefined
      ? [{ row, schedule: reading.schedule, firing: decision.successor }]
      : [],
  );
  const standing = await ensureHeads(engine, chained);
  const broken = new Set(chained.flatMap(({ row }, index) => (standing[index] ? [] : [row])));
  const ended = decided.filter(({ reading, decision }) => reading.kind === "found" && decision.successor === undefined);
  const plans = decided.flatMap(({ row, decision }): Plan[] => {
    if (broken.has(row)) return [];
    if (decision.kind === "skip") return [{ row, event: { type: "skip", reason: decision.reason } }];
    const refresh = decision.refresh === undefined ? {} : { refresh: decision.refresh };
    return [{ row, event: { type: "claim", owner: engine.newNonce(), ...refresh } }];
  });
  return { plans, ended: ended.map(({ row }) => row.scheduleId) };
}

/** `undefined` where the schedule could not be read: its heads are left for the next visit. */
function readingOf(
  engine: Engine,
  scheduleId: string,
  verdict: ReadVerdict<ScheduleItem> | undefined,
): ScheduleReading | undefined {
  if (verdict === undefined || verdict.kind === "failed") {
    engine.metrics.count("StoreFailures");
    engine.logger.warn("a schedule could not be read; its firing is left for the next visit", {
      scheduleId,
      error: verdict === undefined ? "no answer" : errorMessage(verdict.error),
    });
    return undefined;
  }
  if (verdict.kind === "missing") return { kind: "missing" };
  const parsed = parseSchedule(verdict.row, engine.settings.limits);
  if (parsed.kind === "valid") return { kind: "found", schedule: parsed.schedule };
  engine.logger.warn("a schedule is not valid; its firing is passed over", {
    scheduleId,
    problem: formatProblems(parsed.problems),
  });
  return { kind: "invalid" };
}

async function carryOut(engine: Engine, plans: readonly Plan[]): Promise<VisitSummary> {
  const now = engine.clock.now();
  const prepared = plans.flatMap((plan) => {
    const next = transition(plan.row, plan.event, now, engine.settings);
    if (next.kind === "refused") {
      engine.logger.debug("a row needs nothing after all", { key: formatKey(plan.row), reason: next.reason });
      return [];
    }
    const write: SettleableWrite = {
      key: { scheduleId: plan.row.scheduleId, firing: plan.row.firing },
      guard: next.guard,
      change: next.change,
      isMine: (row) => isOutcomeOf(plan, row),
    };
    return [{ plan, write }];
  });
  const verdicts = await writeSettled(
    engine,
    prepared.map(({ write }) => write),
  );
  const claimed: Claimed[] = [];
  let moved = 0;
  for (const [index, { plan }] of prepared.entries()) {
    const verdict = verdicts[index];
    if (verdict?.kind === "refused") engine.metrics.count("LostRaces");
    if (verdict?.kind !== "applied") continue;
    moved += 1;
    record(engine, plan, now);
    const { event } = plan;
    if (event.type === "claim" || event.type === "claim-again")
      claimed.push({ row: verdict.row, owner: event.owner, again: event.type === "claim-again" });
  }
  await sendClaimed(engine, claimed);
  return { moved };
}

/** Whether a row read after an unanswered write shows that the write took effect. */
function isOutcomeOf({ row: before, event }: Plan, row: Occurrence): boolean {
  switch (event.type) {
    case "claim":
    case "claim-again":
      return row.status === "DISPATCHED" && row.owner === event.owner;
    default:
      // The end of a row is the same whoever wrote it, and nothing follows from having written it.
      return row.fencingToken === before.fencingToken && row.status !== before.status;
  }
}

function record({ metrics, logger }: Engine, { row, event }: Plan, now: Instant): void {
  const fields = { key: formatKey(row), occurrenceId: row.occurrenceId };
  switch (event.type) {
    case "claim":
      metrics.count("Claims");
      if (row.fencingToken === 0 && row.dueAt !== undefined) metrics.record("ClaimLatenessMs", now - row.dueAt);
      return;
    case "claim-again":
      metrics.count("ClaimsAgain");
      logger.info("nobody started an attempt in time: sending it again", fields);
      return;
    case "skip":
      metrics.count("Skips");
      logger.info("a firing was passed over", { ...fields, reason: event.reason });
      return;
    case "never-started":
    case "worker-lost":
      metrics.count("DeadLetters");
      logger.error("a run became a dead letter", { ...fields, reason: event.type });
      return;
    default:
      return;
  }
}
