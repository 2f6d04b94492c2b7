import type { ClockSample } from "../../../lib/adapters/dynamodb/store-clock.ts";
import type { Host } from "../../../lib/app/ports.ts";

/** A host and a store whose clocks are moved by hand; sleeping and asking take simulated time and return at once. */
export interface SimulatedTime {
  readonly host: Host;
  /** The true time at the store. */
  storeMs(): number;
  /** Lets `ms` milliseconds pass. */
  pass(ms: number): void;
  /** Steps the host's wall clock by `ms`, as a correction or a mistaken administrator does. */
  stepWall(ms: number): void;
  /** Lets `ms` milliseconds pass of which the host's monotonic clock sees nothing, as when it is frozen. */
  freeze(ms: number): void;
  /** One exchange with the store; `skewMs` falsifies its `Date` header, and the host is frozen for `frozenMs` of it. */
  exchange(skewMs?: number, frozenMs?: number): ClockSample;
}

/** How the simulated parts err and how long an exchange takes. */
export interface SimulatedTimeOptions {
  /** The host's wall clock is this far ahead of the store's. */
  readonly hostAheadMs?: number;
  /** How much more than a second the monotonic clock counts in a second, in parts per million. */
  readonly driftPpm?: number;
  readonly requestMs?: number;
  readonly responseMs?: number;
}

const START_MS = Date.UTC(2026, 10, 29, 12, 0, 0, 437);

/** Time at {@link START_MS}. */
export function simulateTime(options: SimulatedTimeOptions = {}): SimulatedTime {
  const { hostAheadMs = 0, driftPpm = 0, requestMs = 2, responseMs = 2 } = options;
  let trueMs = START_MS;
  let monotonicMs = 5_000;
  let wallAheadMs = hostAheadMs;
  const pass = (ms: number) => {
    trueMs += ms;
    monotonicMs += ms * (1 + driftPpm / 1e6);
  };
  return {
    host: {
      wallMs: () => trueMs + wallAheadMs,
      monotonicMs: () => monotonicMs,
      sleep: async (ms) => pass(ms),
    },
    storeMs: () => trueMs,
    pass,
    stepWall: (ms) => {
      wallAheadMs += ms;
    },
    freeze: (ms) => {
      trueMs += ms;
    },
    exchange: (skewMs = 0, frozenMs = 0) => {
      const sentMs = monotonicMs;
      const sentTrueMs = trueMs;
      pass(requestMs);
      const dateMs = Math.floor((trueMs + skewMs) / 1_000) * 1_000;
      trueMs += frozenMs;
      pass(responseMs);
      return { sentMs, receivedMs: monotonicMs, wallElapsedMs: trueMs - sentTrueMs, dateMs };
    },
  };
}
