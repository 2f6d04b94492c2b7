import { scheduleAnnouncement } from "../../core/announcement.ts";
import { errorMessage } from "../../core/errors.ts";
import { type Instant, toIso } from "../../core/instant.ts";
import { formatKey, type Occurrence, type OccurrenceStatus } from "../../core/occurrence.ts";
import { parseSchedule, pauseNote, type Schedule } from "../../core/schedule.ts";
import type { EventBus, ScheduleItem } from "../ports.ts";
import { FIRST_INSTANT_KEY, LAST_INSTANT_KEY } from "./chain.ts";
import type { Engine } from "./engine.ts";

/** Who a schedule's own pause says it is by. */
export const PAUSED_BY_ITSELF = "pauseAfterDeadLetters";

/** Rows read at a time, and how often, to count dead letters in a row: enough for the largest number a definition can say. */
const PAGE = 100;
const PAGES_MAX = 50;

const COUNTED: readonly OccurrenceStatus[] = ["SUCCEEDED", "FAILED", "DEAD_LETTERED"];

/**
 * Pauses the schedules whose runs became dead letters as often in a row as their definition allows, and says so on the bus.
 * Counted are the firings of the definition as it stands, since it was last resumed, newest first; one that succeeded ends
 * the row. Answers the ids for which that has to be done again.
 */
export async function pauseAfterDeadLetters(
  engine: Engine,
  bus: EventBus,
  dead: readonly Occurrence[],
): Promise<ReadonlySet<string>> {
  const failed = new Set<string>();
  const newest = new Map(dead.map((row) => [row.scheduleId, row]));
  if (newest.size === 0) return failed;
  const rows = [...newest.values()];
  const verdicts = await engine.schedules.read(rows.map(({ scheduleId }) => scheduleId));
  for (const [index, row] of rows.entries()) {
    const verdict = verdicts[index];
    if (verdict?.kind === "missing") continue;
    const done = verdict?.kind === "found" && (await pausedWhereDue(engine, bus, verdict.row, row));
    if (!done) failed.add(row.scheduleId);
  }
  return failed;
}

/** {@link pauseWhereDue}, where one schedule's failure is its own. */
async function pausedWhereDue(engine: Engine, bus: EventBus, item: ScheduleItem, last: Occurrence): Promise<boolean> {
  try {
    return await pauseWhereDue(engine, bus, item, last);
  } catch (error) {
    engine.metrics.count("StoreFailures");
    engine.logger.warn("a schedule's dead letters in a row could not be counted", {
      scheduleId: item.scheduleId,
      error: errorMessage(error),
    });
    return false;
  }
}

async function pauseWhereDue(engine: Engine, bus: EventBus, item: ScheduleItem, last: Occurrence): Promise<boolean> {
  const parsed = parseSchedule(item, engine.settings.limits);
  const limit = parsed.kind === "valid" ? parsed.schedule.definition.pauseAfterDeadLetters : undefined;
  if (parsed.kind === "invalid" || limit === undefined) return true;
  const { schedule } = parsed;
  // Paused by this very dead letter, perhaps, and the news of it lost: then it is told once more.
  if (schedule.paused) return wasPausedSince(item, last.endedAt) ? tell(engine, bus, item, last) : true;
  if ((await deadInARow(engine, schedule, limit)) < limit) return true;
  const note = `${limit} dead letters in a row, the last ${formatKey(last)}`;
  const pause = { at: engine.clock.now(), by: PAUSED_BY_ITSELF, note };
  if ((await engine.schedules.pause(item.scheduleId, pause)) !== "written") return true;
  engine.logger.error("a schedule paused itself", { scheduleId: item.scheduleId, note });
  return tell(engine, bus, { ...item, paused: { ...pause, at: toIso(pause.at) } }, last);
}

function wasPausedSince(item: ScheduleItem, endedAt: Instant | undefined): boolean {
  const pause = pauseNote(item);
  return pause?.by === PAUSED_BY_ITSELF && endedAt !== undefined && pause.at >= toIso(endedAt);
}

async function tell(engine: Engine, bus: EventBus, item: ScheduleItem, last: Occurrence): Promise<boolean> {
  const [verdict] = await bus.publish([scheduleAnnouncement(item.scheduleId, pauseNote(item), last)]);
  if (verdict?.kind !== "accepted")
    engine.logger.warn("a schedule's pause did not reach the event bus", { scheduleId: item.scheduleId });
  return verdict?.kind === "accepted";
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
