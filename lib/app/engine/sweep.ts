import { errorMessage } from "../../core/errors.ts";
import type { EventBus } from "../ports.ts";
import { announceDeadLetters } from "./announce.ts";
import type { Engine } from "./engine.ts";
import { reconcile } from "./reconcile.ts";

/** Schedules read at a time, and reconciled side by side. */
const SCHEDULES_PAGE = 100;
const SIDE_BY_SIDE = 10;
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
 * The safety net under the streams: reconciles every schedule and announces dead letters that nobody heard of, in pages,
 * until done or `signal` aborts. One schedule's failure is counted and holds up no other.
 */
export async function sweep(engine: Engine, bus: EventBus, signal: AbortSignal, from?: string): Promise<SweepSummary> {
  const totals = { schedules: 0, mended: 0, failed: 0 };
  let cursor = from;
  do {
    const page = await engine.schedules.list({ limit: SCHEDULES_PAGE, ...(cursor !== undefined && { cursor }) });
    for (let start = 0; start < page.rows.length; start += SIDE_BY_SIDE)
      await Promise.all(
        page.rows.slice(start, start + SIDE_BY_SIDE).map(async ({ scheduleId }) => {
          totals.schedules += 1;
          try {
            if ((await reconcile(engine, scheduleId)).changed) totals.mended += 1;
          } catch (error) {
            totals.failed += 1;
            engine.logger.warn("the sweep could not reconcile a schedule", { scheduleId, error: errorMessage(error) });
          }
        }),
      );
    cursor = page.cursor;
  } while (cursor !== undefined && !signal.aborted);
  const summary = { ...totals, announced: await announceForgotten(engine, bus, signal), ...(cursor && { cursor }) };
  engine.logger.info("swept", summary);
  return summary;
}

async function announceForgotten(engine: Engine, bus: EventBus, signal: AbortSignal): Promise<number> {
  let announced = 0;
  const shards = await engine.occurrences.shardHighWater(engine.settings.shards);
  for (let shard = 0; shard < shards && !signal.aborted; shard += 1) {
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
  }
  return announced;
}
