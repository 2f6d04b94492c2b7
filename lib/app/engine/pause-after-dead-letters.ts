import { PAUSED_BY_ITSELF } from "../../core/announcement.ts";
import { errorMessage } from "../../core/errors.ts";
import { DEAD_STATUSES, formatKey, type Occurrence, type OccurrenceStatus } from "../../core/occurrence.ts";
import { parseSchedule, type Schedule } from "../../core/schedule.ts";
import type { ScheduleItem } from "../ports.ts";
import { FIRST_INSTANT_KEY, LAST_INSTANT_KEY } from "./chain.ts";
import type { Engine } from "./engine.ts";

/** Rows read at a time, and how often, to count dead letters in a row: enough for the largest number a definition can say. */
const PAGE = 100;
const PAGES_MAX = 50;

const COUNTED: readonly OccurrenceStatus[] = ["SUCCEEDED", ...DEAD_STATUSES];

/**
 * Pauses the schedules whose runs became dead letters as often in a row as their definition allows.
 * Counted are the firings of the definition as it stands, since it was last resumed, newest first; one that succeeded ends
 * the row. Answers the ids for which that has to be done again.
 */
export async function pauseAfterDeadLetters(engine: Engine, dead: readonly Occurrence[]): Promise<ReadonlySet<string>> {
  const failed = new Set<string>();
  const newest = new Map(dead.map((row) => [row.scheduleId, row]));
  if (newest.size === 0) return failed;
  const rows = [...newest.values()];
  const verdicts = await engine.schedules.read(rows.map(({ scheduleId }) => scheduleId));
  for (const [index, row] of rows.entries()) {
    const verdict = verdicts[index];
    if (verdict?.kind === "missing") continue;
    const done = verdict?.kind === "found" && (await pausedWhereDue(engine, verdict.row, row));
    if (!done) failed.add(row.scheduleId);
  }
  return failed;
}

/** {@link pauseWhereDue}, where one schedule's failure is its own. */
async function pausedWhereDue(engine: Engine, item: ScheduleItem, last: Occurrence): Promise<boolean> {
  try {
    await pauseWhereDue(engine, item, last);
    return true;
  } catch (error) {
    engine.metrics.count("StoreFailures");
    engine.logger.warn("a schedule's dead letters in a row could not be counted", {
      scheduleId: item.scheduleId,
      error: errorMessage(error),
    });
    return false;
  }
}

async function pauseWhereDue(engine: Engine, item: ScheduleItem, last: Occurrence): Promise<void> {
  const parsed = parseSchedule(item, engine.settings.limits);
  const limit = parsed.kind === "valid" ? parsed.schedule.definition.pauseAfterDeadLetters : undefined;
  if (parsed.kind === "invalid" || limit === undefined || parsed.schedule.paused) return;
  if ((await deadInARow(engine, parsed.schedule, limit)) < limit) return;
  const note = `${limit} dead letters in a row, the last ${formatKey(last)}`;
  const pause = { at: engine.clock.now(), by: PAUSED_BY_ITSELF, note };
  if ((await engine.schedules.pause(item.scheduleId, pause)) === "written")
    engine.logger.error("a schedule paused itself", { scheduleId: item.scheduleId, note });
}

async function deadInARow(engine: Engine, schedule: Schedule, limit: number): Promise<number> {
  const { scheduleId, version, resumedAt } = schedule;
  const range = { scheduleId, from: FIRST_INSTANT_KEY, to: LAST_INSTANT_KEY, newestFirst: true, limit: PAGE };
  let dead = 0;
  let cursor: string | undefined;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const query = { ...range, statuses: COUNTED, ...(cursor !== undefined && { cursor }) };
    const read = await engine.occurrences.history(query);
    for (const row of read.rows) {
      const counts = row.scheduleVersion === version && (resumedAt === undefined || (row.endedAt ?? 0) > resumedAt);
      if (!counts || row.status === "SUCCEEDED") return dead;
      dead += 1;
      if (dead >= limit) return dead;
    }
    cursor = read.cursor;
    if (cursor === undefined) break;
  }
  return dead;
}
