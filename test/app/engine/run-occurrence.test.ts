import { describe, expect, it } from "vitest";
import { ABORT_GRACE_MS, type Attempt, type Execution, runOccurrence } from "../../../lib/app/engine/run-occurrence.ts";
import { ClockUnavailableError } from "../../../lib/app/errors.ts";
import type { OccurrenceStore, OccurrenceWrite, WriteVerdict } from "../../../lib/app/ports.ts";
import { plusMs } from "../../../lib/core/instant.ts";
import { LEASES } from "../../../lib/core/lease.ts";
import { transition } from "../../../lib/core/transition.ts";
import { NOON } from "../../support/occurrences.ts";
import { claimedAtNoon, failed, nextMessage, type RunnerWorld, SUCCEEDED } from "./runner-world.ts";

const SECOND = 1_000;
const HOUR = 3_600_000;

/** A job that takes `ms` and heeds its signal. */
const lasting =
  (world: RunnerWorld, ms: number, outcome: Execution = SUCCEEDED) =>
  async ({ signal }: Attempt): Promise<Execution> => {
    await world.time.host.sleep(ms, signal);
    return signal.aborted ? failed() : outcome;
  };
/** A job that hears nothing and never ends. */
const deaf = () => new Promise<Execution>(() => undefined);
const run = (world: RunnerWorld, execute: (attempt: Attempt) => Promise<Execution>, message = world.message) =>
  world.time.finish(runOccurrence(world.runner(execute), message));

/** Answers the `count` writes after the first `skip` ones by `verdict`; they take effect where `takesEffect`. */
const unreliable =
  (count: number, verdict: "failed" | "unknown", takesEffect: boolean, skip = 0) =>
  (real: OccurrenceStore): Partial<OccurrenceStore> => {
    let seen = 0;
    return {
      write: async (writes: readonly OccurrenceWrite[]): Promise<readonly WriteVerdict[]> => {
        seen += 1;
        if (seen <= skip || seen > skip + count) return real.write(writes);
        if (takesEffect) await real.write(writes);
        return writes.map(() => ({ kind: verdict, error: new Error("no answer") }));
      },
    };
  };

describe("the start of a run", () => {
  it("is before any of the job's code, and the row says so", async () => {
    const world = await claimedAtNoon();
    let seen: string | undefined;
    await run(world, async () => {
      seen = world.run().status;
      return SUCCEEDED;
    });
    expect(seen).toBe("RUNNING");
  });

  it("lets no message by that does not meet a dispatched row of its own token: it is acknowledged and does nothing", async () => {
    const world = await claimedAtNoon();
    let runs = 0;
    const counting = async () => {
      runs += 1;
      return SUCCEEDED;
    };
    const stale = { ...world.message, fencingToken: 0 };
    const ahead = { ...world.message, fencingToken: 2 };
    const elsewhere = { ...world.message, firing: "2026-11-29T13:00:00.000Z" };
    for (const message of [stale, ahead, elsewhere])
      expect(await run(world, counting, message)).toEqual({ kind: "not-mine" });
    expect(await run(world, counting)).toMatchObject({ kind: "reported" });
    // A redelivery of the very same message, before and after the end.
    expect(await run(world, counting)).toEqual({ kind: "not-mine" });
    expect(runs).toBe(1);
    expect(world.counts.get("StaleMessages")).toBe(4);
  });

  it("is one runner's only, though two got the message at once", async () => {
    const world = await claimedAtNoon();
    const both = [0, 1].map(() => runOccurrence(world.runner(lasting(world, SECOND)), world.message));
    const kinds = (await world.time.finish(Promise.all(both))).map(({ kind }) => kind);
    expect(kinds.sort()).toEqual(["not-mine", "reported"]);
  });

  it.each(["failed", "unknown"] as const)(
    "is tried again where its answer was %s, until the store decides",
    async (verdict) => {
      // The first write of the world is the claim.
      const world = await claimedAtNoon({}, { occurrences: unreliable(3, verdict, false, 1) });
      expect(await run(world, async () => SUCCEEDED)).toMatchObject({ kind: "reported" });
      expect(world.run()).toMatchObject({ status: "SUCCEEDED", attempts: 1 });
    },
  );

  it("is settled by the owner it wrote where the answer was lost", async () => {
    const world = await claimedAtNoon({}, { occurrences: unreliable(1, "unknown", true, 1) });
    expect(await run(world, async () => SUCCEEDED)).toMatchObject({ kind: "reported" });
    expect(world.run()).toMatchObject({ status: "SUCCEEDED", attempts: 1 });
  });

  it("is settled also where the store could not be read then, and a second try met the first", async () => {
    let readable = true;
    const world = await claimedAtNoon(
      {},
      {
        occurrences: (real) => ({
          ...unreliable(1, "unknown", true, 1)(real),
          read: async (keys) => {
            if (readable) return real.read(keys);
            readable = true;
            return keys.map(() => ({ kind: "failed", error: new Error("no answer") }));
          },
        }),
      },
    );
    readable = false;
    expect(await run(world, async () => SUCCEEDED)).toMatchObject({ kind: "reported" });
    expect(world.run()).toMatchObject({ status: "SUCCEEDED", attempts: 1 });
  });

  it("that the store never takes is handed back", async () => {
    const world = await claimedAtNoon({}, { occurrences: unreliable(99, "failed", false, 1) });
    expect(await run(world, async () => SUCCEEDED)).toMatchObject({ kind: "hand-back" });
    expect(world.run().status).toBe("DISPATCHED");
  });

  it("that is answered too late to act on is not acted on: the lease counts from before it was sent (F319)", async () => {
    let late = false;
    const world: RunnerWorld = await claimedAtNoon(
      {},
      {
        occurrences: (real) => ({
          write: async (writes) => {
            const verdicts = await real.write(writes);
            if (late) world.time.leap(LEASES.runLeaseMs - LEASES.leaseMarginMs);
            late = true;
            return verdicts;
          },
        }),
      },
    );
    let ran = false;
    const result = await run(world, async () => {
      ran = true;
      return SUCCEEDED;
    });
    expect(result).toEqual({ kind: "stale", abandoned: false });
    expect(ran).toBe(false);
    expect(world.run().status).toBe("RUNNING");
  });
});

describe("the lease of a run", () => {
  it("is renewed as long as the job takes, hours if it must", async () => {
    const world = await claimedAtNoon({ queue: "slow", timeoutSeconds: 3_600 });
    expect(await run(world, lasting(world, HOUR - SECOND))).toMatchObject({ kind: "reported" });
    expect(world.run()).toMatchObject({ status: "SUCCEEDED", attempts: 1 });
    expect(world.run().endedAt).toBe(plusMs(NOON, HOUR - SECOND));
  });

  it("survives two lost renewals in a row", async () => {
    const world = await claimedAtNoon({}, { occurrences: unreliable(2, "failed", false, 2) });
    expect(await run(world, lasting(world, 40 * SECOND))).toMatchObject({ kind: "reported" });
  });

  it("once lost aborts the job's signal, and what it reports changes nothing", async () => {
    const world = await claimedAtNoon({}, { occurrences: unreliable(999, "failed", false, 2) });
    let heard: unknown;
    const result = await run(world, async ({ signal }) => {
      await world.time.host.sleep(HOUR, signal);
      heard = signal.reason;
      return SUCCEEDED;
    });
    expect(result).toEqual({ kind: "stale", abandoned: false });
    expect(heard).toMatchObject({ name: "LeaseLostError", message: expect.stringContaining("must stop") });
    expect(world.time.now()).toBeLessThanOrEqual(plusMs(NOON, LEASES.runLeaseMs));
    expect(world.run().status).toBe("RUNNING");
    expect(world.counts.get("StaleReports")).toBe(1);
  });

  it("is taken over after a freeze that no clock of the host's own noticed in full, and the late report is refused (F191)", async () => {
    const world = await claimedAtNoon();
    const first = runOccurrence(
      world.runner(async () => {
        await world.time.host.sleep(SECOND);
        // The host is frozen for a minute, and its monotonic clock stands still meanwhile.
        world.time.leap(60 * SECOND);
        world.time.frozenMs = 60 * SECOND;
        await nextMessage(world, world.time.now());
        return { kind: "succeeded", output: '"late"' };
      }),
      world.message,
    );
    expect(await world.time.finish(first)).toMatchObject({ kind: "stale" });
    expect(world.run()).toMatchObject({ status: "DISPATCHED", attempts: 2, fencingToken: 2, suspect: true });
    expect(world.run()).not.toHaveProperty("output");
  });

  it("is not lost to a clock that steps back between two renewals", async () => {
    const world = await claimedAtNoon();
    const result = await run(world, async ({ heartbeat }) => {
      await heartbeat();
      world.time.leap(-5);
      await heartbeat();
      return SUCCEEDED;
    });
    expect(result).toMatchObject({ kind: "reported" });
  });

  it("is not lost where the store's time is unknown for a while: what runs goes on, and is renewed once it is known", async () => {
    const world = await claimedAtNoon();
    const known = world.time.clock.now;
    const clock = { ...world.time.clock, now: known };
    const result = await world.time.finish(
      runOccurrence(
        {
          ...world.runner(async (attempt) => {
            clock.now = () => {
              throw new ClockUnavailableError("this host's clock stepped");
            };
            await world.time.host.sleep(LEASES.renewEveryMs + SECOND);
            await attempt.heartbeat();
            clock.now = known;
            return lasting(world, 30 * SECOND)(attempt);
          }),
          engine: { ...world.engine, clock },
        },
        world.message,
      ),
    );
    expect(result).toMatchObject({ kind: "reported", outcome: "succeeded" });
  });

  it("is renewed at a heartbeat's word, which is rejected once it is lost", async () => {
    const world = await claimedAtNoon();
    let refusal: unknown;
    const result = await run(world, async ({ heartbeat, leaseUntil }) => {
      await world.time.host.sleep(3 * SECOND);
      await heartbeat();
      expect(leaseUntil()).toBe(plusMs(NOON, 3 * SECOND + LEASES.runLeaseMs));
      cancel(world);
      await heartbeat().catch((error: unknown) => {
        refusal = error;
      });
      return SUCCEEDED;
    });
    expect(refusal).toMatchObject({ name: "LeaseLostError" });
    expect(result).toMatchObject({ kind: "stale" });
  });
});

/** Cancels noon's run past every port, as somebody else's write. */
function cancel(world: RunnerWorld): void {
  const row = world.run();
  const next = transition(row, { type: "cancel", reason: "requested" }, world.time.now(), world.engine.settings);
  if (next.kind === "refused") throw new Error(next.reason);
  const key = { scheduleId: row.scheduleId, firing: row.firing };
  void world.store.occurrences.write([{ key, guard: next.guard, change: next.change }]);
}

describe("a cancel while the job runs", () => {
  it("reaches it with the next renewal, and its report changes nothing but when its attempt ended", async () => {
    const world = await claimedAtNoon();
    let stoppedAt = 0;
    const result = await run(world, async ({ signal }) => {
      await world.time.host.sleep(SECOND, signal);
      cancel(world);
      await world.time.host.sleep(HOUR, signal);
      stoppedAt = world.time.now();
      return SUCCEEDED;
    });
    expect(result).toEqual({ kind: "stale", abandoned: false });
    expect(stoppedAt).toBe(plusMs(NOON, LEASES.renewEveryMs));
    expect(world.run()).toMatchObject({
      status: "CANCELLED",
      fencingToken: 2,
      log: [{ token: 1, endedAt: stoppedAt }],
    });
    expect(world.run()).not.toHaveProperty("output");
    expect(world.logs.filter((line) => /^(warn|error)/.test(line))).toEqual([]);
  });

  it("leaves it to its lease where the job pays no heed", async () => {
    const world = await claimedAtNoon();
    const result = await run(world, async ({ signal }) => {
      await world.time.host.sleep(SECOND, signal);
      cancel(world);
      await world.time.host.sleep(HOUR);
      return SUCCEEDED;
    });
    expect(result).toEqual({ kind: "stale", abandoned: true });
    expect(world.run().log).toEqual([expect.not.objectContaining({ endedAt: expect.anything() })]);
  });
});

describe("a job", () => {
  it("that returns succeeds, with its output", async () => {
    const world = await claimedAtNoon();
    const result = await run(world, async () => ({ kind: "succeeded", output: '{"sent":1}' }));
    expect(result).toEqual({ kind: "reported", outcome: "succeeded", abandoned: false });
    expect(world.run()).toMatchObject({
      status: "SUCCEEDED",
      output: '{"sent":1}',
      log: [{ token: 1, endedAt: NOON }],
    });
  });

  it("that fails is tried again after its backoff, and has all its attempts counted on the row (F284)", async () => {
    const world = await claimedAtNoon({ retry: { maxAttempts: 3 } });
    let { message } = world;
    const statuses: string[] = [];
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      await run(world, async () => failed(), message);
      statuses.push(world.run().status);
      if (attempt < 3) message = await nextMessage(world, plusMs(world.time.now(), 10 * SECOND));
    }
    expect(statuses).toEqual(["RETRYING", "RETRYING", "DEAD_LETTERED"]);
    expect(world.run()).toMatchObject({ attempts: 3, fencingToken: 3, deadLetterReason: "attempts-exhausted" });
    expect(world.run().log).toHaveLength(3);
  });

  it("waits between attempts by full jitter of its policy, or as long as it asked", async () => {
    const delayAfter = async (outcome: Execution, draw: number) => {
      const world = await claimedAtNoon({ retry: { baseDelaySeconds: 40 } }, { random: () => draw });
      await run(world, async () => outcome);
      return Number(world.run().dueAt) - NOON;
    };
    expect(await delayAfter(failed(), 0)).toBe(0);
    expect(await delayAfter(failed(), 0.5)).toBe(20 * SECOND);
    expect(await delayAfter(failed({ retryAfterSeconds: 100 }), 0.5)).toBe(100 * SECOND);
  });

  it("that fails for good is a dead letter at once", async () => {
    const world = await claimedAtNoon();
    expect(await run(world, async () => failed({ permanent: true }))).toMatchObject({ outcome: "failed" });
    expect(world.run()).toMatchObject({ status: "FAILED", deadLetterReason: "permanent-error", attempts: 1 });
    expect(world.counts.get("DeadLetters")).toBe(1);
  });

  it("that outlives its timeout hears so, and is tried again", async () => {
    const world = await claimedAtNoon({ timeoutSeconds: 20 });
    let reason: unknown;
    const result = await run(world, async ({ signal, deadline }) => {
      expect(deadline).toBe(plusMs(NOON, 20 * SECOND));
      await world.time.host.sleep(HOUR, signal);
      reason = signal.reason;
      return SUCCEEDED;
    });
    expect(reason).toMatchObject({ name: "TimeoutError" });
    expect(result).toEqual({ kind: "reported", outcome: "failed", abandoned: false });
    expect(world.run()).toMatchObject({
      status: "RETRYING",
      lastError: { name: "TimeoutError", message: "the job ran longer than its timeoutSeconds of 20" },
    });
  });

  it("that is deaf to its signal is left behind after a grace, and said to be", async () => {
    const world = await claimedAtNoon({ timeoutSeconds: 20 });
    expect(await run(world, deaf)).toEqual({ kind: "reported", outcome: "failed", abandoned: true });
    expect(world.time.now()).toBe(plusMs(NOON, 20 * SECOND + ABORT_GRACE_MS));
    expect(world.run().status).toBe("RETRYING");
  });

  it("that cannot be executed at all stops its renewals, so that its lease runs out", async () => {
    const world = await claimedAtNoon();
    await expect(run(world, () => Promise.reject(new Error("a bug")))).rejects.toThrow("a bug");
    await world.time.pass(60 * SECOND);
    expect(world.run()).toMatchObject({ status: "RUNNING", leaseUntil: plusMs(NOON, LEASES.runLeaseMs) });
  });
});

describe("a runner that shuts down", () => {
  const shuttingDown = async (execute: (world: RunnerWorld) => (attempt: Attempt) => Promise<Execution>) => {
    const world = await claimedAtNoon();
    const shutdown = new AbortController();
    const result = runOccurrence(world.runner(execute(world), { shutdown: shutdown.signal }), world.message);
    await world.time.pass(5 * SECOND);
    shutdown.abort(new DOMException("the worker stops", "AbortError"));
    return { world, result: await world.time.finish(result) };
  };

  it("aborts its job, which is tried again elsewhere", async () => {
    const { world, result } = await shuttingDown((one) => lasting(one, HOUR));
    expect(result).toEqual({ kind: "reported", outcome: "failed", abandoned: false });
    expect(world.run()).toMatchObject({ status: "RETRYING", lastError: { message: "the worker stops" } });
  });

  it("keeps the success of a job that came to its end in the grace", async () => {
    const { world, result } = await shuttingDown((one) => async ({ signal }) => {
      await one.time.host.sleep(HOUR, signal);
      await one.time.host.sleep(ABORT_GRACE_MS / 2);
      return SUCCEEDED;
    });
    expect(result).toMatchObject({ kind: "reported", outcome: "succeeded" });
    expect(world.run().status).toBe("SUCCEEDED");
  });
});

describe("a report", () => {
  it("is tried again until the store takes it, and renewals go on meanwhile", async () => {
    const world = await claimedAtNoon({}, { occurrences: unreliable(3, "failed", false, 2) });
    expect(await run(world, async () => SUCCEEDED)).toMatchObject({ kind: "reported" });
    expect(world.run().status).toBe("SUCCEEDED");
  });

  it("whose answer was lost is settled by the log entry it closed, and happens once", async () => {
    const world = await claimedAtNoon({}, { occurrences: unreliable(1, "unknown", true, 2) });
    expect(await run(world, async () => failed())).toMatchObject({ kind: "reported", outcome: "failed" });
    expect(world.run()).toMatchObject({ status: "RETRYING", attempts: 1 });
    expect(world.counts.get("Retries")).toBe(1);
  });
});
