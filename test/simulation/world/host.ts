import { createStoreClock, type StoreClock } from "../../../lib/adapters/dynamodb/store-clock.ts";
import type { Host, Logger } from "../../../lib/app/ports.ts";
import { DISPATCHER } from "../../../lib/core/timing.ts";
import { single, type Track } from "../ports/exchange.ts";
import type { Environment } from "./environment.ts";

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

/** The host that the invocations of `environment` run on. */
export function hostOf(environment: Environment): Host {
  const { clocks, world } = environment;
  return {
    wallMs: () => {
      const { step, skewMs } = clocks;
      const stepped = step !== undefined && environment.ageMs >= step.afterMs ? step.byMs : 0;
      return world.kernel.now + skewMs + stepped;
    },
    monotonicMs: () => {
      const elapsedMs = environment.ageMs - (clocks.countsFrozen ? 0 : environment.frozenMs);
      return 1_000_000 + elapsedMs * clocks.rate;
    },
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve();
        const callOff = environment.process.after(ms / clocks.rate, () => {
          signal?.removeEventListener("abort", abort);
          resolve();
        });
        const abort = () => {
          callOff();
          resolve();
        };
        signal?.addEventListener("abort", abort, { once: true });
      }),
  };
}

/** The store's clock as an environment's invocations read it from their answers, and what feeds it. */
export interface EnvironmentClock {
  readonly clock: StoreClock;
  readonly track: Track;
}

/** The production clock on a simulated host, fed by simulated `Date` headers. */
export function clockOf(environment: Environment, host: Host, logger: Logger): EnvironmentClock {
  const { world } = environment;
  const observe: Track = () => {
    const sentMs = host.monotonicMs();
    const sentWallMs = host.wallMs();
    return (effectAt) => sample(sentMs, sentWallMs, effectAt);
  };
  const sample = (sentMs: number, sentWallMs: number, effectAt: number) => {
    const header = world.plan.date(world.kernel.now);
    if (header === "missing") return;
    const receivedMs = host.monotonicMs();
    const dateMs = Math.floor((effectAt + header.wrongByMs) / DATE_RESOLUTION_MS) * DATE_RESOLUTION_MS;
    clock.observe({ sentMs, receivedMs, wallElapsedMs: host.wallMs() - sentWallMs, dateMs });
  };
  const errors = (message: string) => new Error(message);
  const effect = () => world.store.occurrences.shardHighWater(1);
  const clock = createStoreClock({
    host,
    logger,
    send: () => single(environment.process, { service: "store", name: "probe", effect, errors }, observe),
  });
  return { clock, track: observe };
}

/**
 * A clock for a dispatcher that has nothing to do: it promises to resolve at or after an instant, so between polls it sleeps
 * on until a row is about to fall due, or its window ends. The polls in between would have found nothing.
 */
export function lazily(environment: Environment, clock: StoreClock): StoreClock {
  return {
    ...clock,
    sleepUntil: async (at, signal) => {
      await clock.sleepUntil(at, signal);
      if (!signal?.aborted) await untilWork(environment, signal);
    },
  };
}

function untilWork({ process }: Environment, signal: AbortSignal | undefined): Promise<void> {
  const { index } = process.world;
  const untilMs = process.startedAt + DISPATCHER.minuteMs + DISPATCHER.overlapMs;
  return new Promise((resolve) => {
    let stop = () => {};
    const done = () => {
      stop();
      signal?.removeEventListener("abort", done);
      resolve();
    };
    signal?.addEventListener("abort", done, { once: true });
    process.onEnd(() => stop());
    stop = index.whenDue(LOOK_AHEAD_MS, untilMs, () => process.deliver(done));
  });
}
