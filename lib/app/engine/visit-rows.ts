import type { Instant } from "../../core/instant.ts";
import { type DueRow, formatKey, type Occurrence } from "../../core/occurrence.ts";
import { transition } from "../../core/transition.ts";
import { visit } from "../../core/visit.ts";
import type { Engine } from "./engine.ts";
import { endSchedules, type Plan, planBySchedule } from "./plan-by-schedule.ts";
import { type Claimed, sendClaimed } from "./send-claimed.ts";
import { type SettleableWrite, writeSettled } from "./settle.ts";

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
  const scheduled: DueRow[] = [];
  const plans: Plan[] = [];
  for (const row of rows) {
    const wanted = visit(row, now);
    if (wanted === "nothing") continue;
    if (wanted === "head" || wanted === "catch-up") scheduled.push(row);
    else if (wanted === "claim" || wanted === "claim-again")
      plans.push({ row, event: { type: wanted, owner: engine.newNonce() } });
    else plans.push({ row, event: { type: wanted } });
  }
  const decided = await planBySchedule(engine, scheduled);
  plans.push(...decided.plans);
  const summary = await carryOut(engine, plans);
  await endSchedules(engine, decided.ended);
  return summary;
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
    case "decide":
      logger.warn("a firing came up too late and meets its misfire policy", { ...fields, misfire: event.misfire });
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
