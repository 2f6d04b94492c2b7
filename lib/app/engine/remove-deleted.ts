import { isHead, type Occurrence, UNFINISHED_STATUSES } from "../../core/occurrence.ts";
import { transition } from "../../core/transition.ts";
import type { WriteVerdict } from "../ports.ts";
import type { Engine } from "./engine.ts";
import { type Heads, isBeforeItsInstant } from "./heads.ts";
import { settleable, writeSettled } from "./settle.ts";

/**
 * Rows read at a time, and how often, to cancel what a deleted schedule left unfinished: of a schedule that fired every
 * second, a day's. What is older and still unfinished goes on to its end.
 */
const CANCEL_PAGE = 200;
const CANCEL_PAGES_MAX = 500;

/** A deleted schedule's future heads are removed, so that one put again finds its instants free; all else unfinished is cancelled. */
export async function removeDeleted(
  engine: Engine,
  scheduleId: string,
  heads: Heads,
): Promise<{ readonly state: "DELETED"; readonly changed: boolean } | "changed-meanwhile"> {
  const now = engine.clock.now();
  const future = heads.rows.filter((head) => isBeforeItsInstant(head, now));
  for (const head of future)
    if ((await engine.occurrences.removeHead(head, undefined)) === "refused") return "changed-meanwhile";
  let cancelled = 0;
  let cursor: string | undefined;
  for (let page = 0; page < CANCEL_PAGES_MAX; page += 1) {
    const read = await engine.occurrences.history({
      scheduleId,
      newestFirst: true,
      limit: CANCEL_PAGE,
      statuses: UNFINISHED_STATUSES,
      ...(cursor !== undefined && { cursor }),
    });
    const verdicts = await cancelRows(engine, read.rows);
    // A row that moved on meanwhile is to be cancelled as it is now.
    if (verdicts.some(({ kind }) => kind === "refused")) return "changed-meanwhile";
    const failure = verdicts.find((verdict) => verdict.kind === "failed" || verdict.kind === "unknown");
    if (failure) throw new Error(`not all runs of schedule ${scheduleId} could be cancelled`, { cause: failure.error });
    cancelled += verdicts.length;
    cursor = read.cursor;
    if (cursor === undefined) break;
  }
  // To fail here would call for the same search once more, of a schedule that may have nothing unfinished left.
  if (cursor !== undefined)
    engine.logger.warn("a deleted schedule's older runs were not looked through; one that is unfinished goes on", {
      scheduleId,
    });
  return { state: "DELETED", changed: future.length + cancelled > 0 };
}

/** Heads that are due are the dispatcher's to pass over; what was handed over to plain readers of SQS goes on to its end. */
async function cancelRows(engine: Engine, rows: readonly Occurrence[]): Promise<readonly WriteVerdict[]> {
  const writes = rows.flatMap((row) => {
    const next = transition(row, { type: "cancel", reason: "deleted" }, engine.clock.now(), engine.settings);
    if (next.kind === "refused" || isHead(row)) return [];
    return [settleable(row, next, ({ status }) => status === "CANCELLED")];
  });
  return writeSettled(engine, writes);
}
