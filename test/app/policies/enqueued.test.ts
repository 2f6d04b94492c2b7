import { describe, expect, it } from "vitest";
import { reconcile } from "../../../lib/app/engine/reconcile.ts";
import { cancelOccurrence } from "../../../lib/app/manage/occurrences.ts";
import { runNow } from "../../../lib/app/manage/run-now.ts";
import type { SendVerdict } from "../../../lib/app/ports.ts";
import { type Instant, plusMs } from "../../../lib/core/instant.ts";
import { LEASES } from "../../../lib/core/lease.ts";
import { NOON } from "../../support/occurrences.ts";
import { dueAtNextMinute, newWorld, visitDue, type World } from "../../support/world.ts";
import { minutesAfter, SECOND, stageWith, story } from "./stage.ts";

const START = plusMs(NOON, -10 * SECOND);
const item = (given: Record<string, unknown> = {}) => ({
  scheduleId: "a",
  rate: "1 minute",
  queue: "plain",
  ...given,
});
const key = { scheduleId: "a", firing: "2026-11-29T12:00:00.000Z" };
const inDoubt: SendVerdict = { kind: "unknown", error: new Error("no answer") };

/** A world at noon in which SQS took the message of a plain queue's run and its answer was lost. */
async function handedOver(given: Record<string, unknown> = {}): Promise<World> {
  let answered = false;
  const world = newWorld({
    start: START,
    queue: (real) => ({
      send: async (messages) => {
        const verdicts = await real.send(messages);
        if (answered) return verdicts;
        answered = true;
        return messages.map(() => inDoubt);
      },
    }),
  });
  await dueAtNextMinute(world, [item(given)]);
  await visitDue(world);
  expect(world.row("a", NOON).status).toBe("DISPATCHED");
  return world;
}

/** Somebody who knows the tables alone: not which queues there are. */
const stranger = ({ engine }: World) => ({ ...engine, settings: { historySeconds: 86_400, shards: 1 } });

const next = (world: World): Instant => {
  world.time.leap(LEASES.claimLeaseMs);
  return world.time.now();
};

describe("a run of a queue that promises no more than delivery", () => {
  it("cannot be cancelled once it was sent, by nobody, whatever they know of the queues", async () => {
    const world = await handedOver();
    await expect(cancelOccurrence(stranger(world), key)).rejects.toThrow(
      /^occurrence a@2026-11-29T12:00:00.000Z: its queue's readers take messages as they come \(completion is enqueued\)/,
    );
    next(world);
    await visitDue(world);
    expect(world.row("a", NOON).status).toBe("SUCCEEDED");
    await expect(cancelOccurrence(stranger(world), key)).rejects.toThrow("is SUCCEEDED");
  });

  it("can be cancelled before it is sent, and when SQS did not take it", async () => {
    const early = newWorld({ start: START });
    await dueAtNextMinute(early, [item()]);
    expect(await cancelOccurrence(stranger(early), key)).toMatchObject({ status: "CANCELLED" });

    const refused: SendVerdict = { kind: "refused", error: new Error("throttled") };
    const world = newWorld({ start: START, queue: () => ({ send: async (messages) => messages.map(() => refused) }) });
    await dueAtNextMinute(world, [item()]);
    await visitDue(world);
    expect(await cancelOccurrence(stranger(world), key)).toMatchObject({ status: "CANCELLED" });
  });

  it("can be cancelled where a later attempt of it goes to a queue that a consumer reads", async () => {
    const world = newWorld({ start: START });
    await dueAtNextMinute(world, [item()]);
    // Sent to plain readers at its first token, and given back: now the queue has a consumer.
    const before = { status: "PENDING", fencingToken: 1, enqueuedToken: 1 } as const;
    await world.engine.occurrences.write([{ key, guard: [], change: { set: before } }]);
    const consumed = {
      ...world.engine,
      settings: { ...world.engine.settings, completedWhenEnqueued: new Set<string>() },
    };
    await visitDue({ ...world, engine: consumed });
    expect(world.row("a", NOON)).toMatchObject({ status: "DISPATCHED", fencingToken: 2 });
    expect(await cancelOccurrence(stranger(world), key)).toMatchObject({ status: "CANCELLED" });
  });

  it("goes on to its end when its schedule is deleted", async () => {
    const world = await handedOver();
    await world.engine.schedules.remove("a");
    await world.time.finish(reconcile(world.engine, "a"));
    expect(world.row("a", NOON).status).toBe("DISPATCHED");
    next(world);
    await visitDue(world);
    expect(world.history("a")).toEqual(["2026-11-29T12:00:00.000Z SUCCEEDED"]);
  });

  it("is not cancelled by the firing that replaces it, which waits for its end", async () => {
    const world = await handedOver({ overlap: "replace", rate: "30 seconds" });
    world.time.leap(30 * SECOND);
    await visitDue(world);
    expect(world.row("a", NOON).status).toBe("DISPATCHED");
    expect(world.row("a", plusMs(NOON, 30 * SECOND)).status).toBe("PENDING");
    world.time.leap(30 * SECOND);
    await visitDue(world);
    expect(world.row("a", NOON).status).toBe("SUCCEEDED");
    world.time.leap(2 * SECOND);
    await visitDue(world);
    expect(world.row("a", plusMs(NOON, 30 * SECOND)).status).toBe("SUCCEEDED");
  });
});

describe("turns on a queue that promises no more than delivery", () => {
  it.each(["skip", "wait", "replace"])(
    "are over once SQS has the message, so under %s every firing runs",
    async (overlap) => {
      const stage = await stageWith(item({ overlap }), { start: START });
      await stage.playUntil(minutesAfter(NOON, 2));
      expect(story(stage.rows()).slice(0, 3)).toEqual(["12:00 SUCCEEDED", "12:01 SUCCEEDED", "12:02 SUCCEEDED"]);
    },
  );

  it("pass on at once: of two runs due at one instant the second does not wait a minute", async () => {
    const stage = await stageWith(item({ overlap: "wait" }), { start: START });
    stage.dispatching = false;
    await stage.playUntil(plusMs(NOON, -SECOND));
    await runNow(stage.world.engine, "a", { key: "by-hand" });
    await stage.playUntil(NOON);
    stage.dispatching = true;
    await stage.playUntil(plusMs(NOON, 2 * SECOND));
    expect(story(stage.rows()).filter((line) => line.includes("SUCCEEDED"))).toHaveLength(2);
  });
});
