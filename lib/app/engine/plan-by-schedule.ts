import { errorMessage, formatProblems } from "../../core/errors.ts";
import type { OccurrenceEvent } from "../../core/machine.ts";
import { type DueRow, isHead } from "../../core/occurrence.ts";
import { parseSchedule } from "../../core/schedule.ts";
import { startDeadline } from "../../core/transition.ts";
import { carriesCatchUp, catchUpFrom, decideHead, type HeadDecision, type ScheduleReading } from "../../core/visit.ts";
import type { ReadVerdict, ScheduleItem } from "../ports.ts";
import { ensureHeads, insertCatchUps } from "./chain.ts";
import { decidedOnce } from "./decided-once.ts";
import type { Engine } from "./engine.ts";
import type { Candidate } from "./turns.ts";

/** One row and what the dispatcher is about to make of it. */
export interface Plan {
  readonly row: DueRow;
  readonly event: OccurrenceEvent;
}

/** A row with its schedule as it stands now, and what that means for it. */
export interface Decided {
  readonly row: DueRow;
  readonly reading: ScheduleReading;
  readonly decision: HeadDecision;
}

/**
 * Plans rows whose schedules were read. What must stand before a row is touched (its successor, the missed firings behind it)
 * is inserted here; a row of which that failed is left out.
 */
export async function planDecided(engine: Engine, decided: readonly Decided[]): Promise<readonly Plan[]> {
  const successors = decided.flatMap(({ row, reading, decision }) =>
    reading.kind === "found" && decision.kind !== "decide" && decision.successor !== undefined
      ? [{ row, schedule: reading.schedule, ...decision.successor }]
      : [],
  );
  const catchUps = decided.flatMap(({ row, reading, decision }) => {
    const catchUp = decision.kind === "decide" ? undefined : decision.catchUp;
    return reading.kind === "found" && catchUp !== undefined ? [{ row, schedule: reading.schedule, catchUp }] : [];
  });
  const standing = await ensureHeads(engine, successors);
  const caughtUp = await insertCatchUps(engine, catchUps);
  const broken = new Set([
    ...successors.filter((_, index) => !standing[index]).map(({ row }) => row),
    ...catchUps.filter((_, index) => !caughtUp[index]).map(({ row }) => row),
  ]);
  return decided.flatMap((one) => (broken.has(one.row) ? [] : [planOf(engine, one)]));
}

/**
 * Decides rows that depend on their schedule as it stands now: heads, and rows that carry a catch-up, which themselves run
 * from their snapshot, whatever their schedule says by now.
 */
export async function decideRows(engine: Engine, rows: readonly DueRow[]): Promise<Decided[]> {
  const scheduleIds = [...new Set(rows.map((row) => row.scheduleId))];
  if (scheduleIds.length === 0) return [];
  // Before the schedules: what falls due, is edited or resumed while they are read is the next visit's to judge.
  const now = engine.clock.now();
  const verdicts = await engine.schedules.read(scheduleIds);
  const readings = new Map(scheduleIds.map((id, index) => [id, readingOf(engine, id, verdicts[index])]));
  const decided = rows.flatMap((row): Decided[] => {
    const reading = readings.get(row.scheduleId);
    if (reading === undefined) return [];
    const decision: HeadDecision = carriesCatchUp(row)
      ? { kind: "run", ...catchUpFrom(row, reading) }
      : decideHead(row, reading, now);
    return [{ row, reading, decision }];
  });
  return decidedOnce(engine, decided, now);
}

/** By which policy a row takes its turn: a head by its schedule's as it stands, any other row by its own. */
export function candidateOf({ row, reading }: Decided): Candidate {
  if (reading.kind !== "found" || !isHead(row)) return { row, policy: row.overlap };
  const { schedule } = reading;
  const policy = schedule.snapshot.overlap;
  return { row, policy, ...(policy === "wait" && { inOrderOf: schedule }) };
}

function planOf(engine: Engine, decided: Decided): Plan {
  const { row, decision } = decided;
  const settling = settles(decided) && { settles: true };
  switch (decision.kind) {
    case "decide":
      return { row, event: { type: "decide", misfire: decision.misfire } };
    case "skip":
      return { row, event: { type: "skip", reason: decision.reason, ...settling } };
    case "run": {
      if (!isHead(row) && engine.clock.now() >= startDeadline(row)) return { row, event: { type: "never-started" } };
      return claimPlan(engine, row, "claim", { ...(decision.refresh && { refresh: decision.refresh }), ...settling });
    }
    default:
      return decision satisfies never;
  }
}

/** A claim that notes on the row whether the queue it goes to promises no more than delivery. */
export function claimPlan(
  { newNonce, settings }: Engine,
  row: DueRow,
  type: "claim" | "claim-again",
  more: Pick<Extract<OccurrenceEvent, { type: "claim" }>, "refresh" | "settles"> = {},
): Plan {
  const endsEnqueued = settings.completedWhenEnqueued.has(more.refresh?.queue ?? row.queue) && { endsEnqueued: true };
  const event = { owner: newNonce(), ...endsEnqueued };
  return { row, event: type === "claim" ? { type, ...event, ...more } : { type, ...event } };
}

/** Whether nothing follows a head, or its schedule wants to be gone once it is over. */
const settles = ({ row, reading, decision }: Decided): boolean =>
  isHead(row) &&
  reading.kind === "found" &&
  decision.kind !== "decide" &&
  (decision.successor === undefined || reading.schedule.deleteAfterCompletion);

/** `undefined` where the schedule could not be read: its rows are left for the next visit. */
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
