import { describe, expect, it } from "vitest";
import { deadLetterMessage } from "../../../lib/app/engine/announce.ts";
import { REPORT_MARGIN_MS, runBatch } from "../../../lib/app/engine/run-batch.ts";
import type { Delivery } from "../../../lib/app/engine/run-delivery.ts";
import type { Attempt, Execution } from "../../../lib/app/engine/run-occurrence.ts";
import { DEAD_LETTER_QUEUE } from "../../../lib/app/ports.ts";
import { plusMs } from "../../../lib/core/instant.ts";
import { encodeMessage, messageOf } from "../../../lib/core/message.ts";
import type { Occurrence } from "../../../lib/core/occurrence.ts";
import { anOccurrence, NOON } from "../../support/occurrences.ts";
import { newWorld, type World, type WorldOptions } from "../../support/world.ts";
import { failed, SUCCEEDED } from "./runner-world.ts";

const MINUTE = 60_000;
const PLENTY = { remainingMs: () => 15 * MINUTE, concurrency: 10 };

/** A world with a dispatched row of each name. */
async function worldWith(names: readonly string[], given: Partial<Occurrence> = {}, options: WorldOptions = {}) {
  const world = newWorld(options);
  const held = {
    status: "DISPATCHED",
    owner: "d",
    leaseUntil: plusMs(NOON, MINUTE),
    attempts: 1,
    fencingToken: 1,
  } as const;
  await world.engine.occurrences.insert(
    names.map((scheduleId) => anOccurrence({ scheduleId, payload: "{}", ...held, ...given })),
  );
  return world;
}

/** The delivery of a row's message, as the row stands. */
const deliveryOf = (world: World, scheduleId: string): Delivery => ({
  id: `message-of-${scheduleId}`,
  body: encodeMessage(messageOf(world.row(scheduleId, NOON))),
});
const batch = (
  world: World,
  deliveries: readonly Delivery[],
  execute: (attempt: Attempt) => Promise<Execution> = async () => SUCCEEDED,
  limits = PLENTY,
) => world.time.finish(runBatch({ engine: world.engine, host: world.time.host, execute }, deliveries, limits));
const statuses = (world: World, names: readonly string[]) => names.map((name) => world.row(name, NOON).status);

describe("a batch", () => {
  it("runs side by side, and each end is its own: one that throws holds up no other (F293, F298)", async () => {
    const names = ["a", "b", "c"];
    const world = await worldWith(names);
    const result = await batch(
      world,
      names.map((name) => deliveryOf(world, name)),
      async ({ row }) => {
        await world.time.host.sleep(10_000);
        return row.scheduleId === "b" ? failed() : SUCCEEDED;
      },
    );
    expect(result).toEqual({ handBack: [], abandoned: false });
    expect(statuses(world, names)).toEqual(["SUCCEEDED", "RETRYING", "SUCCEEDED"]);
    expect(world.time.now()).toBe(plusMs(NOON, 10_000));
  });

  it("runs no more at a time than it is told", async () => {
    const names = ["a", "b", "c", "d", "e"];
    const world = await worldWith(names);
    let running = 0;
    let most = 0;
    await batch(
      world,
      names.map((name) => deliveryOf(world, name)),
      async () => {
        running += 1;
        most = Math.max(most, running);
        await world.time.host.sleep(1_000);
        running -= 1;
        return SUCCEEDED;
      },
      { ...PLENTY, concurrency: 2 },
    );
    expect(most).toBe(2);
    expect(statuses(world, names)).toEqual(names.map(() => "SUCCEEDED"));
  });

  it("runs suspects alone, one after the other, once all the rest has reported", async () => {
    const world = await worldWith(["a", "b"]);
    const held = {
      status: "DISPATCHED",
      owner: "d",
      leaseUntil: plusMs(NOON, MINUTE),
      attempts: 2,
      fencingToken: 2,
    } as const;
    const suspects = ["s1", "s2"].map((scheduleId) =>
      anOccurrence({ scheduleId, payload: "{}", suspect: true, ...held }),
    );
    await world.engine.occurrences.insert(suspects);
    const begun: string[] = [];
    await batch(
      world,
      ["s1", "a", "s2", "b"].map((name) => deliveryOf(world, name)),
      async ({ row }) => {
        begun.push(`${row.scheduleId} at ${world.time.now() - NOON}, others running: ${runningBeside(world, row)}`);
        await world.time.host.sleep(1_000);
        return SUCCEEDED;
      },
    );
    expect(begun.slice(2)).toEqual(["s1 at 1000, others running: 0", "s2 at 2000, others running: 0"]);
    expect(begun.slice(0, 2)).toEqual([expect.stringMatching(/^a at 0/), expect.stringMatching(/^b at 0/)]);
  });

  const runningBeside = (world: World, row: Occurrence) =>
    world.store.allOccurrences().filter((other) => other.status === "RUNNING" && other.scheduleId !== row.scheduleId)
      .length;

  it("starts nothing that does not fit what is left of the invocation, and hands that back (F295)", async () => {
    const world = await worldWith(["long"], { timeoutSeconds: 120 });
    await world.engine.occurrences.insert([
      anOccurrence({
        scheduleId: "short",
        payload: "{}",
        status: "DISPATCHED",
        owner: "d",
        attempts: 1,
        fencingToken: 1,
        timeoutSeconds: 5,
      }),
    ]);
    const deliveries = ["long", "short"].map((name) => deliveryOf(world, name));
    const left = { ...PLENTY, remainingMs: () => 120_000 + REPORT_MARGIN_MS - 1 };
    expect(await batch(world, deliveries, undefined, left)).toEqual({
      handBack: ["message-of-long"],
      abandoned: false,
    });
    expect(statuses(world, ["long", "short"])).toEqual(["DISPATCHED", "SUCCEEDED"]);
    const enough = { ...PLENTY, remainingMs: () => 120_000 + REPORT_MARGIN_MS };
    expect(await batch(world, deliveries, undefined, enough)).toMatchObject({ handBack: [] });
  });

  it("ends in time a run whose start the store held up: the invocation must not be killed in the middle of others", async () => {
    const TIMEOUT = 60_000;
    const end = plusMs(NOON, TIMEOUT + REPORT_MARGIN_MS + 1_000);
    const world = await worldWith(
      ["a"],
      { timeoutSeconds: TIMEOUT / 1_000 },
      {
        occurrences: (real) => ({
          write: async (writes) => {
            if (world.row("a", NOON).status === "DISPATCHED") await world.time.host.sleep(12_000);
            return real.write(writes);
          },
        }),
      },
    );
    const limits = { ...PLENTY, remainingMs: () => end - world.time.now() };
    const result = await batch(
      world,
      [deliveryOf(world, "a")],
      async ({ signal }) => {
        await world.time.host.sleep(TIMEOUT, signal);
        return signal.aborted ? failed() : SUCCEEDED;
      },
      limits,
    );
    expect(result).toEqual({ handBack: [], abandoned: false });
    expect(world.row("a", NOON)).toMatchObject({ status: "RETRYING", lastError: { name: "TimeoutError" } });
    expect(world.time.now()).toBe(plusMs(end, -REPORT_MARGIN_MS));
  });

  it("hands back a run that the store would not start, and acknowledges its neighbours", async () => {
    const world = await worldWith(
      ["a", "b"],
      {},
      {
        occurrences: (real) => ({
          write: async (writes) => {
            const isHit = writes.some(({ key }) => key.scheduleId === "a");
            return isHit ? writes.map(() => ({ kind: "failed", error: new Error("throttled") })) : real.write(writes);
          },
        }),
      },
    );
    const result = await batch(
      world,
      ["a", "b"].map((name) => deliveryOf(world, name)),
    );
    expect(result.handBack).toEqual(["message-of-a"]);
    expect(statuses(world, ["a", "b"])).toEqual(["DISPATCHED", "SUCCEEDED"]);
  });

  it("hands back one whose running failed for a reason of its own, and lets the others report", async () => {
    const world = await worldWith(["a", "b"]);
    const result = await batch(
      world,
      ["a", "b"].map((name) => deliveryOf(world, name)),
      ({ row }) => (row.scheduleId === "a" ? Promise.reject(new Error("a bug")) : Promise.resolve(SUCCEEDED)),
    );
    expect(result.handBack).toEqual(["message-of-a"]);
    expect(statuses(world, ["a", "b"])).toEqual(["RUNNING", "SUCCEEDED"]);
    expect(world.logs).toContainEqual(expect.stringMatching(/^warn: a message could not be dealt with/));
  });

  it("tells of a job that ignores its signal", async () => {
    const world = await worldWith(["a"]);
    const result = await batch(world, [deliveryOf(world, "a")], () => new Promise(() => undefined));
    expect(result).toEqual({ handBack: [], abandoned: true });
  });

  it("acknowledges a redelivery of what it ran already", async () => {
    const world = await worldWith(["a"]);
    const delivery = deliveryOf(world, "a");
    await batch(world, [delivery]);
    expect(await batch(world, [delivery, delivery])).toEqual({ handBack: [], abandoned: false });
    expect(world.counts.get("Starts")).toBe(1);
  });
});

describe("a body that nobody can read", () => {
  const odd = { id: "odd", body: '{"not":"one of ours"}' };

  it("goes to the dead-letter queue as it is, with the reason, once", async () => {
    const world = await worldWith(["a"]);
    expect(await batch(world, [odd, deliveryOf(world, "a")])).toMatchObject({ handBack: [] });
    await batch(world, [odd]);
    expect(world.queues.peek(DEAD_LETTER_QUEUE)).toMatchObject([
      {
        body: odd.body,
        attributes: {
          reason: "malformed-message",
          errorMessage: expect.stringContaining("occurrenceId: must be a UUID"),
        },
      },
    ]);
    expect(statuses(world, ["a"])).toEqual(["SUCCEEDED"]);
    expect(world.counts.get("MalformedMessages")).toBe(2);
  });

  it("comes again where the dead-letter queue did not take it", async () => {
    const world = await worldWith(
      [],
      {},
      {
        queue: () => ({ send: async (messages) => messages.map(() => ({ kind: "refused", error: new Error("no") })) }),
      },
    );
    expect(await batch(world, [odd])).toEqual({ handBack: ["odd"], abandoned: false });
    expect(world.counts.get("MalformedMessages")).toBeUndefined();
  });
});

describe("a dead letter redriven into the main queue", () => {
  const DEAD = {
    status: "DEAD_LETTERED",
    attempts: 10,
    deadLetterReason: "attempts-exhausted",
    deadLetterShard: 0,
    deadLetteredAt: NOON,
  } as const;
  const redriven = (world: World): Delivery => ({ id: "redriven", body: deadLetterMessage(world.row("a", NOON)).body });

  it("is replayed, once: attempts begin anew and the token goes on (F307, F308)", async () => {
    const world = await worldWith(["a"], DEAD);
    const delivery = redriven(world);
    expect(await batch(world, [delivery])).toEqual({ handBack: [], abandoned: false });
    expect(world.row("a", NOON)).toMatchObject({ status: "PENDING", attempts: 0, fencingToken: 1 });
    const replayed = world.row("a", NOON);
    world.time.leap(1_000);
    await batch(world, [delivery, delivery]);
    expect(world.row("a", NOON)).toEqual(replayed);
  });

  it("does nothing once its dead letter is history", async () => {
    const world = await worldWith(["a"], DEAD);
    const delivery = redriven(world);
    await world.engine.occurrences.write([
      { key: world.row("a", NOON), guard: [], change: { set: { fencingToken: 2 } } },
    ]);
    expect(await batch(world, [delivery])).toMatchObject({ handBack: [] });
    expect(world.row("a", NOON).status).toBe("DEAD_LETTERED");
  });

  it("does nothing once its dead letter was discarded, nor where that happens meanwhile", async () => {
    const world = await worldWith(["a"], DEAD);
    const delivery = redriven(world);
    const discard = () =>
      world.engine.occurrences.write([
        { key: world.row("a", NOON), guard: [], change: { set: {}, remove: ["deadLetteredAt", "deadLetterShard"] } },
      ]);
    const { read } = world.engine.occurrences;
    const late = {
      ...world.engine,
      occurrences: {
        ...world.engine.occurrences,
        read: async (keys: Parameters<typeof read>[0]) => {
          const readings = await read(keys);
          await discard();
          return readings;
        },
      },
    };
    for (const engine of [late, world.engine]) {
      expect(await batch({ ...world, engine }, [delivery])).toMatchObject({ handBack: [] });
      expect(world.row("a", NOON).status).toBe("DEAD_LETTERED");
    }
  });

  it("without its mark is a redelivery, which replays nothing", async () => {
    const world = await worldWith(["a"], DEAD);
    await batch(world, [deliveryOf(world, "a")]);
    expect(world.row("a", NOON).status).toBe("DEAD_LETTERED");
  });

  it("comes again where the store could not be asked", async () => {
    const world = await worldWith(["a"], DEAD, {
      occurrences: () => ({ read: async (keys) => keys.map(() => ({ kind: "failed", error: new Error("no") })) }),
    });
    expect(await batch(world, [redriven(world)])).toEqual({ handBack: ["redriven"], abandoned: false });
  });
});
