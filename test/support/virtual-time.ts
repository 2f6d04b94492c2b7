import { setMaxListeners } from "node:events";
import { setImmediate as turn } from "node:timers/promises";
import type { Clock, Host } from "../../lib/app/ports.ts";
import { type Instant, instant } from "../../lib/core/instant.ts";

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
}

/**
 * Time that stands still until a test lets it pass: the store's clock and a host whose own clocks may disagree with it. A
 * sleeper wakes exactly when its time has come, so that what takes an hour takes no time.
 */
export class VirtualTime {
  #now: number;
  #sleepers: Sleeper[] = [];
  /** What the host's wall clock is ahead of the store's. */
  wallAheadMs = 0;
  /** What the host's monotonic clock has missed: it stands still while a host is frozen. */
  frozenMs = 0;

  constructor(start: Instant) {
    this.#now = start;
  }

  readonly now = (): Instant => instant(this.#now);

  readonly clock: Clock = {
    now: () => this.now(),
    sleepUntil: (at, signal) => this.#sleepUntil(at, signal),
  };

  readonly host: Host = {
    wallMs: () => this.#now + this.wallAheadMs,
    monotonicMs: () => this.#now - this.frozenMs,
    sleep: (ms, signal) => this.#sleepUntil(this.#now + ms, signal),
  };

  /** Lets `ms` pass in one leap, as for a process that did nothing meanwhile; nobody wakes before the next {@link finish}. */
  leap(ms: number): void {
    this.#now += ms;
  }

  /** Lets time pass, from sleeper to sleeper, until `work` is done. Throws where it waits for something else than time. */
  async finish<Result>(work: Promise<Result>): Promise<Result> {
    let done = false;
    const settled = work.finally(() => {
      done = true;
    });
    settled.catch(() => undefined);
    await turn();
    while (!done) {
      if (!this.#wakeNext(Number.POSITIVE_INFINITY)) throw new Error("nothing sleeps, and the work is not done");
      await turn();
    }
    return settled;
  }

  /** Lets `ms` pass, waking whoever's time comes. */
  async pass(ms: number): Promise<void> {
    const until = this.#now + ms;
    await turn();
    while (this.#wakeNext(until)) await turn();
    this.#now = Math.max(this.#now, until);
  }

  #wakeNext(until: number): boolean {
    const next = this.#sleepers.toSorted((left, right) => left.at - right.at)[0];
    if (next === undefined || next.at > until) return false;
    this.#now = Math.max(this.#now, next.at);
    next.wake();
    return true;
  }

  #sleepUntil(at: number, signal?: AbortSignal): Promise<void> {
    if (at <= this.#now || signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const sleeper: Sleeper = {
        at,
        wake: () => {
          this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
          signal?.removeEventListener("abort", sleeper.wake);
          resolve();
        },
      };
      this.#sleepers.push(sleeper);
      if (signal === undefined) return;
      // As many as sleep at a time are no leak.
      setMaxListeners(0, signal);
      signal.addEventListener("abort", sleeper.wake, { once: true });
    });
  }
}
