import { describe, expect, it } from "vitest";
import { type Attempt, type Execution, type Runner, runOccurrence } from "../../../lib/app/engine/run-occurrence.ts";
import { ClockUnavailableError } from "../../../lib/app/errors.ts";
import type { OccurrenceStore, OccurrenceWrite, WriteVerdict } from "../../../lib/app/ports.ts";
import { plusMs } from "../../../lib/core/instant.ts";
import { LEASES } from "../../../lib/core/lease.ts";
import { forgetfulClock } from "../../support/forgetful-clock.ts";
import { NOON } from "../../support/occurrences.ts";
import { claimedAtNoon, nextMessage, type RunnerWorld, SUCCEEDED } from "./runner-world.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

const succeed = async () => SUCCEEDED;
const run = (world: RunnerWorld, execute: (attempt: Attempt) => Promise<Execution>, more: Partial<Runner> = {}) =>
  world.time.finish(runOccurrence(world.runner(execute, more), world.message));

const isReport = ({ change }: OccurrenceWrite) => change.set.endedAt !== undefined;
const failing = (writes: readonly OccurrenceWrite[]): readonly WriteVerdict[] =>
  writes.map(() => ({ kind: "failed", error: new Error("throttled") }));

/** A world whose store takes nothing while `isDown`, once the job runs. */
async function withOutage(isDown: (world: RunnerWorld, writes: readonly OccurrenceWrite[]) => boolean) {
  let begun = false;
  const world: RunnerWorld = await claimedAtNoon(
    {},
    {
      occurrences: (real) => ({
        write: async (writes) => (begun && isDown(world, writes) ? failing(writes) : real.write(writes)),
      }),
    },
  );
  const execute = async () => {
    begun = true;
    return SUCCEEDED;
  };
  return { world, execute };
}

const secondsAfterNoon = (world: RunnerWorld): number => (world.time.now() - NOON) / SECOND;
const leaseLost = ({ logs }: RunnerWorld): readonly string[] => logs.filter((line) => line.includes("lost its lease"));

describe("a report during an outage of the store", () => {
  it("is repeated as long as the lease holds: what is done is not run again", async () => {
    const { world, execute } = await withOutage((here) => secondsAfterNoon(here) < 25);
    expect(await run(world, execute)).toMatchObject({ kind: "reported", outcome: "succeeded" });
    expect(world.run()).toMatchObject({ status: "SUCCEEDED", attempts: 1 });
    expect(secondsAfterNoon(world)).toBeGreaterThanOrEqual(25);
  });

  it("is kept possible by renewals, where the store takes those", async () => {
    const { world, execute } = await withOutage(
      (here, writes) => secondsAfterNoon(here) < 120 && writes.some(isReport),
    );
    expect(await run(world, execute)).toMatchObject({ kind: "reported" });
    expect(world.run()).toMatchObject({ status: "SUCCEEDED", attempts: 1 });
  });

  it("that outlasts the lease is unreported, which is not stale: the lease decides, and the next attempt is a suspect", async () => {
    const { world, execute } = await withOutage(() => true);
    expect(await run(world, execute)).toEqual({ kind: "unreported", abandoned: false });
    expect(secondsAfterNoon(world)).toBeGreaterThan(20);
    expect(world.time.now()).toBeLessThanOrEqual(plusMs(NOON, LEASES.runLeaseMs));
    expect(world.counts.has("StaleReports")).toBe(false);
    expect(world.logs).toContain("error: a report could not be delivered: the lease decides");
    expect(world.logs.filter((line) => line.includes("changed nothing"))).toEqual([]);
    expect(world.run().status).toBe("RUNNING");
  });

  it("ends where the store takes renewals for ever and this report never", async () => {
    const { world, execute } = await withOutage((_, writes) => writes.some(isReport));
    expect(await run(world, execute)).toMatchObject({ kind: "unreported" });
    expect(world.time.now() - NOON).toBeLessThan(12 * MINUTE);
    expect(world.time.now() - NOON).toBeGreaterThan(8 * MINUTE);
  });

  it("is given up when the runner ends, after one more try", async () => {
    const { world, execute } = await withOutage(() => true);
    const shutdown = new AbortController();
    const result = runOccurrence(world.runner(execute, { shutdown: shutdown.signal }), world.message);
    await world.time.pass(10 * SECOND);
    shutdown.abort();
    expect(await world.time.finish(result)).toMatchObject({ kind: "unreported" });
    expect(secondsAfterNoon(world)).toBe(10);
  });
});

describe("a report that was taken", () => {
  it("stops the renewals at once: none is refused while the next run is looked for", async () => {
    let beforeHistory = async () => {};
    const world = await claimedAtNoon(
      { overlap: "wait" },
      {
        occurrences: (real) => ({
          history: async (query) => {
            await beforeHistory();
            return real.history(query);
          },
        }),
      },
    );
    beforeHistory = () => world.time.host.sleep(2 * LEASES.renewEveryMs);
    expect(await run(world, succeed)).toMatchObject({ kind: "reported" });
    expect(secondsAfterNoon(world)).toBeGreaterThan(LEASES.renewEveryMs / SECOND);
    expect(leaseLost(world)).toEqual([]);
  });

  it("and whose answer is late makes a renewal fail, which tells of no lost lease", async () => {
    const world: RunnerWorld = await claimedAtNoon(
      {},
      {
        occurrences: (real) => ({
          write: async (writes) => {
            const verdicts = await real.write(writes);
            if (writes.some(isReport)) await world.time.host.sleep(LEASES.renewEveryMs + SECOND);
            return verdicts;
          },
        }),
      },
    );
    expect(await run(world, succeed)).toMatchObject({ kind: "reported" });
    expect(leaseLost(world)).toEqual([]);
  });
});

describe("a store's time that is not known for a while", () => {
  /** A clock that can be made to forget, and how it comes to know again. */
  function forgetful(world: RunnerWorld) {
    const { clock, forget, learn } = forgetfulClock(world.time.clock);
    const read: OccurrenceStore["read"] = (keys) => {
      learn();
      return world.engine.occurrences.read(keys);
    };
    const occurrences = { ...world.engine.occurrences, read };
    return { forget, engine: { ...world.engine, clock, occurrences } };
  }

  it("holds up neither the start nor the report of a run: the store is asked for it", async () => {
    const world = await claimedAtNoon();
    const { forget, engine } = forgetful(world);
    forget();
    const execute = async () => {
      forget();
      return SUCCEEDED;
    };
    expect(await run(world, execute, { engine })).toMatchObject({ kind: "reported", outcome: "succeeded" });
    expect(world.run()).toMatchObject({ status: "SUCCEEDED", attempts: 1 });
  });

  it("lets a run begin whose start was taken before, with its deadline", async () => {
    const world = await claimedAtNoon({ timeoutSeconds: 20 });
    const { forget, engine } = forgetful(world);
    const write: OccurrenceStore["write"] = async (writes) => {
      const verdicts = await engine.occurrences.write(writes);
      await world.time.host.sleep(2 * SECOND);
      forget();
      return verdicts;
    };
    let deadline = 0;
    const execute = async (attempt: Attempt) => {
      deadline = attempt.deadline;
      return SUCCEEDED;
    };
    const occurrences = { ...engine.occurrences, write };
    expect(await run(world, execute, { engine: { ...engine, occurrences } })).toMatchObject({ kind: "reported" });
    expect(deadline).toBe(plusMs(NOON, 22 * SECOND));
  });

  it("does not cost a run its lease: its next renewal asks for it", async () => {
    const world = await claimedAtNoon();
    const { forget, engine } = forgetful(world);
    const execute = async ({ signal }: Attempt) => {
      forget();
      await world.time.host.sleep(MINUTE - SECOND, signal);
      return SUCCEEDED;
    };
    expect(await run(world, execute, { engine })).toMatchObject({ kind: "reported", outcome: "succeeded" });
  });

  it("that stays unknown starts nothing, and leaves what is done to its lease", async () => {
    const world = await claimedAtNoon();
    let isKnown = false;
    const now = () => {
      if (isKnown) return world.time.now();
      throw new ClockUnavailableError("this host's clock must be within 300000 ms of the store's, got 400000");
    };
    const engine = { ...world.engine, clock: { ...world.time.clock, now } };
    expect(await run(world, succeed, { engine })).toEqual({
      kind: "hand-back",
      reason: "the store's time is not known",
    });
    isKnown = true;
    const execute = async () => {
      isKnown = false;
      return SUCCEEDED;
    };
    expect(await run(world, execute, { engine })).toMatchObject({ kind: "unreported" });
    expect(world.run().status).toBe("RUNNING");
    isKnown = true;
    const message = await nextMessage(world, plusMs(NOON, 2 * LEASES.runLeaseMs));
    expect(message).toMatchObject({ attempt: 2, fencingToken: 2, suspect: true });
  });
});

describe("a runner's end", () => {
  it("before a start leaves the attempt to others", async () => {
    const world = await claimedAtNoon();
    const result = await run(world, succeed, { shutdown: AbortSignal.abort() });
    expect(result).toEqual({ kind: "hand-back", reason: "the runner is shutting down" });
    expect(world.run()).toMatchObject({ status: "DISPATCHED", attempts: 1 });
  });

  it("while a start is under way fails the attempt without its job", async () => {
    const shutdown = new AbortController();
    let claimed = false;
    const world = await claimedAtNoon(
      {},
      {
        occurrences: (real) => ({
          write: async (writes) => {
            if (claimed) shutdown.abort(new DOMException("the worker is shutting down", "AbortError"));
            claimed = true;
            return real.write(writes);
          },
        }),
      },
    );
    let ran = false;
    const execute = async () => {
      ran = true;
      return SUCCEEDED;
    };
    expect(await run(world, execute, { shutdown: shutdown.signal })).toMatchObject({
      kind: "reported",
      outcome: "failed",
      abandoned: false,
    });
    expect(ran).toBe(false);
    expect(world.run()).toMatchObject({ status: "RETRYING", lastError: { name: "AbortError" } });
  });
});
