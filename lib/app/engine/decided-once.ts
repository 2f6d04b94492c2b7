import { errorMessage } from "../../core/errors.ts";
import type { Instant } from "../../core/instant.ts";
import { decisionBefore } from "../../core/misfire.ts";
import { formatKey } from "../../core/occurrence.ts";
import { isSameTiming } from "../../core/schedule-version.ts";
import { mapBounded } from "../bounded.ts";
import { FIRST_INSTANT_KEY } from "./chain.ts";
import type { Engine } from "./engine.ts";
import type { Decided } from "./plan-by-schedule.ts";

/** Rows read before a misfire in search of an older head: only a catch-up or a backfill lays more between two heads. */
const ROWS_BEFORE = 50;
const AT_ONCE = 10;

/**
 * Has a chain's misfires decided by its oldest head alone: a younger one takes that decision over, or is left for a later
 * visit until it has been made, so that no two rows count the same firings. One whose neighbours cannot be read is left too.
 */
export async function decidedOnce(engine: Engine, decided: readonly Decided[], now: Instant): Promise<Decided[]> {
  const answers = await mapBounded(decided, AT_ONCE, async (one): Promise<Decided[]> => {
    const { row, reading, decision } = one;
    if (decision.kind !== "decide" || reading.kind !== "found") return [one];
    const { schedule } = reading;
    if (!isSameTiming(schedule.version, row.scheduleVersion)) return [one];
    try {
      const { rows } = await engine.occurrences.history({
        scheduleId: row.scheduleId,
        from: FIRST_INSTANT_KEY,
        to: row.firing,
        newestFirst: true,
        limit: ROWS_BEFORE,
      });
      const older = rows.filter(({ firing }) => firing !== row.firing);
      const before = decisionBefore(row, older, schedule.snapshot.misfirePolicy, now);
      if (before?.kind === "to-come") return [];
      return [before === undefined ? one : { ...one, decision: { kind: "decide", misfire: before.misfire } }];
    } catch (error) {
      engine.metrics.count("StoreFailures");
      engine.logger.warn("the rows before a misfire could not be read; it is left for the next visit", {
        key: formatKey(row),
        error: errorMessage(error),
      });
      return [];
    }
  });
  return answers.flat();
}
