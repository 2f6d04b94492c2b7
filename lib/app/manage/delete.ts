import { statusIn, tokenIs } from "../../core/guard.ts";
import { type Instant, plusMs } from "../../core/instant.ts";
import { isTerminal, type Occurrence, TERMINAL_STATUSES } from "../../core/occurrence.ts";
import { transition } from "../../core/transition.ts";
import { settleable, writeSettled } from "../engine/settle.ts";
import { StoreError } from "../errors.ts";
import type { Manager } from "./manager.ts";
import { readSchedules } from "./schedules.ts";

/** Rows read, cancelled and removed at a time. */
const PAGE = 100;
/** How often the rows that moved on, or could not be removed, are looked for once more, and the pause before that. */
const PASSES_MAX = 10;
const PASS_PAUSE_MS = 1_000;

/** How a schedule is deleted. */
export interface DeleteOptions {
  /** Its history too. */
  readonly purge?: boolean;
  /** Told after every page how many runs were removed so far. */
  readonly onProgress?: (removed: number) => void;
}

/**
 * Removes a schedule: what is unfinished of it is cancelled, its history stays. With `purge` its history goes too, page by
 * page: what is unfinished is cancelled at once, and whoever works at it is told at its next renewal. Stopped and repeated, a
 * purge goes on with what is left, also when the definition is gone. `missing`: there was nothing to remove. Throws `StoreError`.
 */
export async function deleteSchedule(
  manager: Manager,
  scheduleId: string,
  { purge = false, onProgress = () => {} }: DeleteOptions = {},
): Promise<"removed" | "missing"> {
  // The definition first: a one-shot without its row would be owed once more.
  const removed = await manager.schedules.remove(scheduleId);
  if (!purge) return removed;
  const rows = await removeHistory(manager, scheduleId, onProgress);
  return rows > 0 ? "removed" : removed;
}

async function removeHistory(
  manager: Manager,
  scheduleId: string,
  onProgress: (removed: number) => void,
): Promise<number> {
  const { clock } = manager;
  // What is younger belongs to a schedule that was put again.
  const until = clock.now();
  let removed = 0;
  for (let pass = 0; pass < PASSES_MAX; pass += 1) {
    if (pass > 0) await clock.sleepUntil(plusMs(clock.now(), PASS_PAUSE_MS));
    let left = 0;
    let cursor: string | undefined;
    do {
      const page = await manager.occurrences.history({
        scheduleId,
        newestFirst: false,
        limit: PAGE,
        ...(cursor !== undefined && { cursor }),
      });
      const outcome = await removePage(manager, scheduleId, page.rows, until);
      removed += outcome.removed;
      left += outcome.left;
      if (outcome.removed > 0) onProgress(removed);
      cursor = page.cursor;
    } while (cursor !== undefined);
    if (left === 0) return removed;
  }
  throw new StoreError(`not all runs of schedule ${scheduleId} could be removed; the same purge goes on with them`);
}

async function removePage(
  manager: Manager,
  scheduleId: string,
  rows: readonly Occurrence[],
  until: Instant,
): Promise<{ readonly removed: number; readonly left: number }> {
  const mine = rows.filter(({ createdAt }) => createdAt <= until);
  const unfinished = mine.filter(({ status }) => !isTerminal(status));
  const cancelled = await cancelAll(manager, scheduleId, unfinished);
  // A schedule that was put again has taken over what is unfinished.
  if (cancelled === "put-again")
    return removeAll(
      manager,
      mine.filter(({ status }) => isTerminal(status)),
      0,
    );
  const finished = [...mine.filter(({ status }) => isTerminal(status)), ...cancelled];
  return removeAll(manager, finished, unfinished.length - cancelled.length);
}

async function cancelAll(
  manager: Manager,
  scheduleId: string,
  rows: readonly Occurrence[],
): Promise<readonly Occurrence[] | "put-again"> {
  if (rows.length === 0) return [];
  const [standing] = await readSchedules(manager, [scheduleId]);
  if (standing !== undefined) return "put-again";
  const writes = rows.flatMap((row) => {
    const next = transition(row, { type: "cancel", reason: "deleted" }, manager.clock.now(), manager.settings);
    return next.kind === "refused" ? [] : [settleable(row, next, ({ status }) => status === "CANCELLED")];
  });
  const verdicts = await writeSettled(manager, writes);
  return verdicts.flatMap((verdict) => (verdict.kind === "applied" ? [verdict.row] : []));
}

async function removeAll(
  { occurrences }: Manager,
  rows: readonly Occurrence[],
  leftBefore: number,
): Promise<{ readonly removed: number; readonly left: number }> {
  const verdicts = await occurrences.remove(
    rows.map(({ scheduleId, firing, fencingToken }) => ({
      key: { scheduleId, firing },
      guard: [statusIn(TERMINAL_STATUSES), tokenIs(fencingToken)],
    })),
  );
  const removed = verdicts.filter(({ kind }) => kind === "removed").length;
  return { removed, left: leftBefore + rows.length - removed };
}
