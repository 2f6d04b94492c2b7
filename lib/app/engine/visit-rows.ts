import type { Instant } from "../../core/instant.ts";
import { type DueRow, formatKey, type Occurrence } from "../../core/occurrence.ts";
import type { Turn } from "../../core/overlap.ts";
import { transition } from "../../core/transition.ts";
import { type Visit, visit } from "../../core/visit.ts";
import type { Engine } from "./engine.ts";
import { candidateOf, claimPlan, type Decided, decideRows, type Plan, planDecided } from "./plan-by-schedule.ts";
import { type Claimed, sendClaimed } from "./send-claimed.ts";
import { settleable, writeSettled } from "./settle.ts";
import { letNextRun, takeTurns } from "./turns.ts";

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
  const wanted = rows.map((row) => ({ row, visit: visit(row, now) }));
  const of = (...visits: readonly Visit[]) => wanted.filter((one) => visits.includes(one.visit)).map(({ row }) => row);
  const decided = await decideRows(engine, of("head", "catch-up"));
  const runs = decided.filter(({ decision }) => decision.kind === "run");
  const claims = of("claim");
  const turns = await takeTurns(engine, [
    ...runs.map(candidateOf),
    ...claims.map((row) => ({ row, policy: row.overlap })),
  ]);
  const plans = await planDecided(
    engine,
    decided.flatMap((one) => inTurn(one, turns)),
  );
  return carryOut(engine, [
    ...plans,
    ...[...runs.map(({ row }) => row), ...claims].flatMap((row) => waitingPlan(row, turns.get(row))),
    ...claims.flatMap((row) => (turns.get(row)?.kind === "go" ? [claimPlan(engine, row, "claim")] : [])),
    ...of("claim-again").map((row) => claimPlan(engine, row, "claim-again")),
    ...of("never-started").map((row): Plan => ({ row, event: { type: "never-started" } })),
    ...of("worker-lost").map((row): Plan => ({ row, event: { type: "worker-lost" } })),
  ]);
}

/** What is decided once it is known whose turn it is; nothing for a row that must wait. */
function inTurn(one: Decided, turns: ReadonlyMap<DueRow, Turn>): Decided[] {
  if (one.decision.kind !== "run") return [one];
  const turn = turns.get(one.row);
  if (turn?.kind === "go") return [one];
  return turn?.kind === "skip" ? [{ ...one, decision: { ...one.decision, kind: "skip", reason: "overlap" } }] : [];
}

/** A row that must wait stays as it is, its successor not yet inserted: so a schedule's firings keep their order. */
const waitingPlan = (row: DueRow, turn: Turn | undefined): Plan[] =>
  turn?.kind === "wait" || turn?.kind === "replace" ? [{ row, event: { type: "defer", dueAt: turn.until } }] : [];

async function carryOut(engine: Engine, plans: readonly Plan[]): Promise<VisitSummary> {
  const now = engine.clock.now();
  const prepared = plans.flatMap((plan) => {
    const next = transition(plan.row, plan.event, now, engine.settings);
    if (next.kind === "refused") {
      engine.logger.debug("a row needs nothing after all", { key: formatKey(plan.row), reason: next.reason });
      return [];
    }
    return [{ plan, write: settleable(plan.row, next, (row) => isOutcomeOf(plan, row)) }];
  });
  const verdicts = await writeSettled(
    engine,
    prepared.map(({ write }) => write),
  );
  const claimed: Claimed[] = [];
  const lost: Occurrence[] = [];
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
    if (event.type === "worker-lost" || event.type === "never-started") lost.push(verdict.row);
  }
  await sendClaimed(engine, claimed);
  await letNextRun(engine, lost);
  return { moved };
}

/** Whether a row read after an unanswered write shows that the write took effect. */
function isOutcomeOf({ row: before, event }: Plan, row: Occurrence): boolean {
  switch (event.type) {
    case "claim":
    case "claim-again":
      return row.status === "DISPATCHED" && row.owner === event.owner;
    case "never-started":
      return row.deadLetterReason === event.type;
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
      metrics.count("DeadLetters", 1, row.scheduleId);
      logger.error("a run became a dead letter", { ...fields, reason: event.type });
      return;
    default:
      return;
  }
}
