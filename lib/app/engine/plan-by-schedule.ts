import { errorMessage, formatProblems } from "../../core/errors.ts";
import type { DueRow } from "../../core/occurrence.ts";
import { parseSchedule, type ScheduleSnapshot } from "../../core/schedule.ts";
import type { OccurrenceEvent } from "../../core/transition.ts";
import {
  type CatchUp,
  carriesCatchUp,
  catchUpFrom,
  decideHead,
  type HeadDecision,
  type ScheduleReading,
} from "../../core/visit.ts";
import type { ReadVerdict, ScheduleItem } from "../ports.ts";
import { ensureHeads, insertCatchUps } from "./chain.ts";
import type { Engine } from "./engine.ts";
import { reconcile } from "./reconcile.ts";

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
 * is inserted here; a row of which that failed is left out. `ended`: schedules that have no further firing.
 */
export async function planDecided(
  engine: Engine,
  decided: readonly Decided[],
): Promise<{ plans: Plan[]; ended: string[] }> {
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
  return {
    plans: decided.flatMap(({ row, decision }) => (broken.has(row) ? [] : [planOf(engine, row, decision)])),
    ended: decided.filter(endsItsSchedule).map(({ row }) => row.scheduleId),
  };
}

/** Decides rows that depend on their schedule as it stands now: heads, and rows that carry a catch-up. */
export async function decideRows(engine: Engine, rows: readonly DueRow[]): Promise<Decided[]> {
  const scheduleIds = [...new Set(rows.map((row) => row.scheduleId))];
  if (scheduleIds.length === 0) return [];
  const verdicts = await engine.schedules.read(scheduleIds);
  const readings = new Map(scheduleIds.map((id, index) => [id, readingOf(engine, id, verdicts[index])]));
  const now = engine.clock.now();
  return rows.flatMap((row): Decided[] => {
    const reading = readings.get(row.scheduleId);
    if (reading === undefined) return [];
    const decision = carriesCatchUp(row) ? carried(catchUpFrom(row, reading)) : decideHead(row, reading, now);
    return [{ row, reading, decision }];
  });
}

/** The overlap policy by which a row takes its turn: a head's schedule's as it stands, any other row's own. */
export const overlapOf = ({ row, reading }: Decided): ScheduleSnapshot["overlap"] =>
  reading.kind === "found" && !carriesCatchUp(row) ? reading.schedule.snapshot.overlap : row.overlap;

/** A caught-up row runs from its snapshot, whatever its schedule says by now. */
const carried = (catchUp: CatchUp | undefined): HeadDecision => ({ kind: "run", ...(catchUp && { catchUp }) });

function planOf(engine: Engine, row: DueRow, decision: HeadDecision): Plan {
  switch (decision.kind) {
    case "decide":
      return { row, event: { type: "decide", misfire: decision.misfire } };
    case "skip":
      return { row, event: { type: "skip", reason: decision.reason } };
    case "run": {
      const refresh = decision.refresh === undefined ? {} : { refresh: decision.refresh };
      return { row, event: { type: "claim", owner: engine.newNonce(), ...refresh } };
    }
    default:
      return decision satisfies never;
  }
}

const endsItsSchedule = ({ row, reading, decision }: Decided): boolean =>
  reading.kind === "found" && decision.kind !== "decide" && decision.successor === undefined && !carriesCatchUp(row);

/** Says of schedules whose last firing was taken that they have ended. The sweep says it where this does not get to. */
export async function endSchedules(engine: Engine, scheduleIds: readonly string[]): Promise<void> {
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
