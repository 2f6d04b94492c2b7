import { errorMessage } from "../../core/errors.ts";
import { LAST_INSTANT } from "../../core/instant.ts";
import { isHead } from "../../core/occurrence.ts";
import { mapBounded } from "../bounded.ts";
import { InvalidCursorError } from "../errors.ts";
import type { EventBus, Page, ScheduleItem } from "../ports.ts";
import { announceDeadLetters } from "./announce.ts";
import type { Engine } from "./engine.ts";
import { reconcile } from "./reconcile.ts";

/** Schedules read at a time, and reconciled side by side. */
const SCHEDULES_PAGE = 100;
const SIDE_BY_SIDE = 10;
const HEADS_PAGE = 100;
const DEAD_LETTERS_PAGE = 100;

/** What a sweep saw and mended. `cursor`: where the next one goes on, if this one's time was up. */
export interface SweepSummary {
  readonly schedules: number;
  readonly mended: number;
  readonly failed: number;
  readonly announced: number;
  readonly cursor?: string;
}

/**
 * The safety net under the streams: announces dead letters that nobody heard of, reconciles every schedule, page by page, and
 * then what has heads and no schedule, until done or `signal` aborts. Where it stopped is kept, page by page too, and the next
 * sweep goes on from there. One schedule's failure is counted and holds up no other, nor does that of a shard.
 */
export async function sweep(engine: Engine, bus: EventBus, signal: AbortSignal): Promise<SweepSummary> {
  const announced = await announceForgotten(engine, bus, signal);
  const totals = { schedules: 0, mended: 0, failed: 0 };
  let cursor = await engine.occurrences.readSweepCursor();
  do {
    const page = await pageAt(engine, cursor);
    totals.schedules += page.rows.length;
    await mend(
      engine,
      page.rows.map(({ scheduleId }) => scheduleId),
      totals,
    );
    cursor = page.cursor;
    await engine.occurrences.writeSweepCursor(cursor);
  } while (cursor !== undefined && !signal.aborted);
  await mendOrphans(engine, signal, totals);
  const summary = { ...totals, announced, ...(cursor !== undefined && { cursor }) };
  engine.metrics.count("Mended", totals.mended + announced);
  engine.logger.info("swept", summary);
  return summary;
}

/** The page that begins at `cursor`; the first one where that is kept in a form which this store cannot read (any more). */
async function pageAt({ schedules, logger, metrics }: Engine, cursor: string | undefined): Promise<Page<ScheduleItem>> {
  const query = { limit: SCHEDULES_PAGE };
  if (cursor === undefined) return schedules.list(query);
  try {
    return await schedules.list({ ...query, cursor });
  } catch (error) {
    if (!(error instanceof InvalidCursorError)) throw error;
    metrics.count("StoreFailures");
    logger.error("where the last sweep stopped cannot be read: it starts over", { error: error.message });
    return schedules.list(query);
  }
}

async function mend(
  engine: Engine,
  scheduleIds: readonly string[],
  totals: { mended: number; failed: number },
): Promise<void> {
  await mapBounded(scheduleIds, SIDE_BY_SIDE, async (scheduleId) => {
    try {
      const { changed, state } = await reconcile(engine, scheduleId);
      if (!changed) return;
      totals.mended += 1;
      engine.logger.info("the sweep mended a schedule", { scheduleId, state });
    } catch (error) {
      totals.failed += 1;
      engine.logger.warn("the sweep could not reconcile a schedule", { scheduleId, error: errorMessage(error) });
    }
  });
}

/** Heads whose schedule was deleted, of which nobody was told. They would be passed over at their instants, whenever that is. */
const mendOrphans = (engine: Engine, signal: AbortSignal, totals: { mended: number; failed: number }): Promise<void> =>
  forEachShard(engine, signal, "the heads", async (shard) => {
    let cursor: string | undefined;
    do {
      const page = await engine.occurrences.due({
        shard,
        until: LAST_INSTANT,
        limit: HEADS_PAGE,
        ...(cursor !== undefined && { cursor }),
      });
      const scheduleIds = [...new Set(page.rows.filter(isHead).map(({ scheduleId }) => scheduleId))];
      const readings = scheduleIds.length === 0 ? [] : await engine.schedules.read(scheduleIds);
      const orphaned = scheduleIds.filter((_, index) => readings[index]?.kind === "missing");
      await mend(engine, orphaned, totals);
      cursor = page.cursor;
    } while (cursor !== undefined && !signal.aborted);
  });

async function announceForgotten(engine: Engine, bus: EventBus, signal: AbortSignal): Promise<number> {
  let announced = 0;
  await forEachShard(engine, signal, "the dead letters", async (shard) => {
    announced += await announceShard(engine, bus, shard, signal);
  });
  return announced;
}

/** `work` for one shard after the other. One failure holds up none of the others: the next sweep looks again. */
async function forEachShard(
  engine: Engine,
  signal: AbortSignal,
  what: string,
  work: (shard: number) => Promise<void>,
): Promise<void> {
  if (signal.aborted) return;
  const shards = await engine.occurrences.shardHighWater(engine.settings.shards);
  for (let shard = 0; shard < shards && !signal.aborted; shard += 1)
    try {
      await work(shard);
    } catch (error) {
      engine.metrics.count("StoreFailures");
      engine.logger.warn(`${what} of a shard could not be looked through; the next sweep does it`, {
        shard,
        error: errorMessage(error),
      });
    }
}

async function announceShard(engine: Engine, bus: EventBus, shard: number, signal: AbortSignal): Promise<number> {
  let announced = 0;
  let cursor: string | undefined;
  do {
    const page = await engine.occurrences.deadLetters({
      shard,
      limit: DEAD_LETTERS_PAGE,
      ...(cursor !== undefined && { cursor }),
    });
    const forgotten = page.rows.filter((row) => row.announcedAt === undefined);
    announced += (await announceDeadLetters(engine, bus, forgotten)).filter(Boolean).length;
    cursor = page.cursor;
  } while (cursor !== undefined && !signal.aborted);
  return announced;
}
