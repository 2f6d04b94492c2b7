import { isDeadLetter } from "../../core/announcement.ts";
import {
  DEAD_STATUSES,
  isTerminal,
  type Occurrence,
  type OccurrenceStatus,
  UNFINISHED_STATUSES,
} from "../../core/occurrence.ts";
import type { ScheduleResult, ScheduleState } from "../../core/schedule.ts";
import type { ScheduleItem } from "../ports.ts";
import type { Engine } from "./engine.ts";

/** Rows read at a time, and how often, to see that nothing of a schedule is open: with more, the next sweep looks again. */
const PAGE = 200;
const PAGES_MAX = 100;

const OPEN: readonly OccurrenceStatus[] = [...UNFINISHED_STATUSES, ...DEAD_STATUSES];

/**
 * Removes an ended schedule that wants to be gone after its completion, once all its runs are over and no dead letter of it
 * is open. Only as it was read: one that was put again meanwhile stays. Answers whether it was removed.
 */
export async function isRemovedAsComplete(
  engine: Engine,
  asRead: ScheduleItem,
  parsed: ScheduleResult,
  state: ScheduleState,
): Promise<boolean> {
  if (state !== "ENDED" || parsed.kind === "invalid" || !parsed.schedule.deleteAfterCompletion) return false;
  if (await hasOpenRuns(engine, asRead.scheduleId)) return false;
  const removed = (await engine.schedules.removeAsRead(asRead)) === "removed";
  if (removed) engine.logger.info("a schedule was removed after its completion", { scheduleId: asRead.scheduleId });
  return removed;
}

async function hasOpenRuns(engine: Engine, scheduleId: string): Promise<boolean> {
  let cursor: string | undefined;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const query = { scheduleId, newestFirst: true, limit: PAGE, statuses: OPEN };
    const read = await engine.occurrences.history({ ...query, ...(cursor !== undefined && { cursor }) });
    if (read.rows.some(isOpen)) return true;
    cursor = read.cursor;
    if (cursor === undefined) return false;
  }
  return true;
}

const isOpen = (row: Occurrence): boolean => !isTerminal(row.status) || isDeadLetter(row);
