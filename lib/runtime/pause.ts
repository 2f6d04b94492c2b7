import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";

/** The longest delay that Node's timers keep; a longer one would fire at once (Node.js documentation, "setTimeout"). */
const TIMER_MAX_MS = 2 ** 31 - 1;

/** Resolves after `delayMs` (at most 24.8 days), or at once when `signal` aborts; never rejects. */
export async function pause(delayMs: number, signal?: AbortSignal): Promise<void> {
  // As many as like may wait for one signal, a shard each for instance: from the eleventh on Node warns of a leak.
  if (signal) setMaxListeners(0, signal);
  await sleep(Math.min(delayMs, TIMER_MAX_MS), undefined, signal && { signal }).catch((error: unknown) => {
    if (!signal?.aborted) throw error;
  });
}
