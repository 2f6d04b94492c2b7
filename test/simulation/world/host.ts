import { createStoreClock, type StoreClock } from "../../../lib/adapters/dynamodb/store-clock.ts";
import type { Clock, Host, Logger } from "../../../lib/app/ports.ts";
import { single, type Track } from "../ports/exchange.ts";
import type { Process } from "./process.ts";

/** How far ahead a dispatcher looks: a row is worth waking for this long before it falls due. */
const LOOK_AHEAD_MS = 1_000;
/** HTTP dates have whole seconds (RFC 9110, section 5.6.7). */
const DATE_RESOLUTION_MS = 1_000;

/** What a host's own clocks show. */
export interface HostClocks {
  /** How far the wall clock is ahead of the true time, and when and by how much it is set anew. */
  readonly skewMs: number;
  readonly step?: { readonly afterMs: number; readonly byMs: number };
  /** How much faster than the true time the monotonic clock runs; 1 is exact. */
  readonly rate: number;
  /** Whether the monotonic clock counts the time that the host was frozen. */
  readonly countsFrozen: boolean;
}

/** A host that is right about everything. */
export const EXACT: HostClocks = { skewMs: 0, rate: 1, countsFrozen: true };

/** The host that `process` runs on. */
export function hostOf(process: Process, clocks: HostClocks): Host {
  const { kernel } = process.world;
  return {
    wallMs: () => {
      const { step, skewMs } = clocks;
      const stepped = step !== undefined && kernel.now - process.startedAt >= step.afterMs ? step.byMs : 0;
      return kernel.now + skewMs + stepped;
    },
    monotonicMs: () => {
      const elapsedMs = kernel.now - process.startedAt - (clocks.countsFrozen ? 0 : process.frozenMs);
      return 1_000_000 + elapsedMs * clocks.rate;
    },
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve();
        const wake = () => {
          signal?.removeEventListener("abort", wake);
          resolve();
        };
        signal?.addEventListener("abort", wake, { once: true });
        process.after(ms / clocks.rate, wake);
      }),
  };
}

/** The store's clock as `process` reads it from its answers, and what feeds it. */
export interface ProcessClock {
  readonly clock: StoreClock;
  readonly track: Track;
}

/** The production clock on a simulated host, fed by simulated `Date` headers. */
export function clockOf(process: Process, host: Host, logger: Logger): ProcessClock {
  const { world } = process;
  const observe: Track = () => {
    const sentMs = host.monotonicMs();
    return (effectAt) => sample(sentMs, effectAt);
  };
  const sample = (sentMs: number, effectAt: number) => {
    const header = world.plan.date(world.kernel.now);
    if (header === "missing") return;
    const receivedMs = host.monotonicMs();
    const dateMs = Math.floor((effectAt + header.wrongByMs) / DATE_RESOLUTION_MS) * DATE_RESOLUTION_MS;
    clock.observe({ sentMs, receivedMs, dateMs });
  };
  const errors = (message: string) => new Error(message);
  const effect = () => world.store.occurrences.shardHighWater(1);
  const clock = createStoreClock({
    host,
    logger,
    send: () => single(process, { service: "store", name: "probe", effect, errors }, observe),
  });
  return { clock, track: observe };
}

/**
 * A clock for a dispatcher that has nothing to do: it promises to resolve at or after an instant, so between polls it sleeps
 * on until a row is about to fall due, or `untilMs`. The polls in between would have found nothing.
 */
export function lazily(process: Process, clock: Clock, untilMs: number): Clock {
  return {
    now: () => clock.now(),
    sleepUntil: async (at, signal) => {
      await clock.sleepUntil(at, signal);
      if (!signal?.aborted) await untilWork(process, untilMs, signal);
    },
  };
}

function untilWork(process: Process, untilMs: number, signal: AbortSignal | undefined): Promise<void> {
  const { kernel, index } = process.world;
  return new Promise((resolve) => {
    let armedAt = Number.POSITIVE_INFINITY;
    const done = () => {
      stop();
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const arm = (at: number) => {
      if (at >= armedAt) return;
      armedAt = at;
      kernel.at(at, () => {
        if (armedAt !== at) return;
        armedAt = Number.POSITIVE_INFINITY;
        look();
      });
    };
    const look = () => {
      const dueAt = index.earliest ?? Number.POSITIVE_INFINITY;
      const now: number = kernel.now;
      if (!process.alive) stop();
      else if (now >= untilMs || dueAt <= now + LOOK_AHEAD_MS) process.deliver(done);
      else arm(Math.min(untilMs, dueAt - LOOK_AHEAD_MS));
    };
    const stop = index.subscribe((dueAt) => arm(Math.max(kernel.now, dueAt - LOOK_AHEAD_MS)));
    process.onEnd(stop);
    signal?.addEventListener("abort", done, { once: true });
    look();
  });
}
