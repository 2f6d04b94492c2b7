import { setMaxListeners } from "node:events";
import type { Host } from "../app/ports.ts";
import { systemHost } from "../runtime/system-host.ts";

/**
 * The host of a function that works for as long as it has time, asleep for the most of it: once `stopping` aborts, whatever sleeps
 * wakes, as if its time were over.
 */
export const hostUntil = (stopping: AbortSignal): Host => ({
  ...systemHost,
  sleep: async (ms, signal) => {
    const awake = new AbortController();
    const wake = () => awake.abort();
    const wakers = signal ? [stopping, signal] : [stopping];
    // Whatever sleeps listens: as many as there are are meant.
    setMaxListeners(0, ...wakers);
    for (const waker of wakers) {
      if (waker.aborted) wake();
      waker.addEventListener("abort", wake, { once: true });
    }
    await systemHost.sleep(ms, awake.signal);
    for (const waker of wakers) waker.removeEventListener("abort", wake);
  },
});
