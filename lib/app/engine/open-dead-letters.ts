import { errorMessage } from "../../core/errors.ts";
import type { Engine } from "./engine.ts";

/** Where counting stops: the gauge then means "at least so many". Keeps a storm of dead letters from costing a minute's reads each minute. */
export const OPEN_DEAD_LETTERS_COUNTED_MAX = 1_000;

/**
 * Says how many dead letters are open: rows that were neither replayed nor discarded, counted shard by shard up to
 * {@link OPEN_DEAD_LETTERS_COUNTED_MAX}. Says nothing where `signal` aborts or the store does not answer: a number that is
 * too small would end an alarm.
 */
export async function gaugeOpenDeadLetters(engine: Engine, signal: AbortSignal): Promise<void> {
  const { occurrences, settings, metrics, logger } = engine;
  try {
    const shards = await occurrences.shardHighWater(settings.shards);
    let open = 0;
    for (let shard = 0; shard < shards && open < OPEN_DEAD_LETTERS_COUNTED_MAX; shard += 1) {
      if (signal.aborted) return;
      open += await occurrences.countDeadLetters({ shard, limit: OPEN_DEAD_LETTERS_COUNTED_MAX - open });
    }
    metrics.gauge("OpenDeadLetters", open);
  } catch (error) {
    metrics.count("StoreFailures");
    logger.warn("open dead letters could not be counted; the next tick does it", { error: errorMessage(error) });
  }
}
