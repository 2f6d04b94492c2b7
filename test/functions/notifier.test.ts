import { describe, expect, it, vi } from "vitest";
import { createHandler } from "../../functions/notifier.ts";
import { DEAD_LETTER_QUEUE } from "../../lib/app/ports.ts";
import { HIGH_WATER_KEY } from "../../lib/app/reserved.ts";
import type { Occurrence } from "../../lib/core/occurrence.ts";
import { NOON } from "../support/occurrences.ts";
import { failureOf, LATER, runningRow, step } from "../support/transitions.ts";
import { type DeployedWorld, newDeployedWorld, streamRecord } from "./deployed-world.ts";

vi.mock("../../lib/runtime/create-engine.ts", async () => ({
  createEngine: (await import("./deployed-world.ts")).engineOf,
}));

const running = (scheduleId: string) => runningRow({ scheduleId, payload: "{}" });
const dead = (scheduleId: string) => step(running(scheduleId), failureOf(running(scheduleId), true), LATER);
const change = (number: string, after: Occurrence | undefined, before?: Occurrence) => {
  const { scheduleId = "gone", firing = "gone" } = after ?? {};
  return streamRecord(number, { scheduleId, firing }, after, NOON, before);
};
const handle = (world: DeployedWorld, ...Records: ReturnType<typeof change>[]) =>
  world.time.finish(createHandler(world.env)({ Records }));

describe("the notifier", () => {
  it("tells the dead-letter queue and the bus what a change made known", async () => {
    const world = newDeployedWorld();
    await world.engine.occurrences.insert([dead("a")]);
    expect(await handle(world, change("1", dead("a"), running("a")))).toEqual({ batchItemFailures: [] });
    expect(world.messages(DEAD_LETTER_QUEUE)).toMatchObject([{ scheduleId: "a", deadLetter: true }]);
    expect(world.bus.published).toMatchObject([{ detailType: "Occurrence Failed" }]);
    expect(world.row("a", NOON).announcedAt).toBeDefined();
    expect(world.did).toEqual(["probe", "flush"]);
  });

  it("has everything from the first failure on brought again, and tells the rest meanwhile", async () => {
    const world = newDeployedWorld({
      queue: (real) => ({
        send: async (messages) => {
          const verdicts = await real.send(messages);
          const isHit = (index: number) => messages[index]?.attributes?.["scheduleId"] === "b";
          return verdicts.map((verdict, index) =>
            isHit(index) ? { kind: "refused", error: new Error("no") } : verdict,
          );
        },
      }),
    });
    const records = ["a", "b", "c"].map((name, index) => change(`seq-${index}`, dead(name), running(name)));
    expect(await handle(world, ...records)).toEqual({ batchItemFailures: [{ itemIdentifier: "seq-1" }] });
    expect(world.bus.published).toHaveLength(3);
  });

  it("passes over a row that nobody can read, so that it does not block its shard", async () => {
    const world = newDeployedWorld();
    const odd = streamRecord(
      "1",
      { scheduleId: "a", firing: "x" },
      { scheduleId: "a", firing: "x", status: "ODD" },
      NOON,
    );
    expect(await handle(world, odd, change("2", dead("b"), running("b")))).toEqual({ batchItemFailures: [] });
    expect(world.logs).toContainEqual(expect.stringMatching(/^error: a row that nobody can read changed/));
    expect(world.bus.published).toHaveLength(1);
  });

  it("has nothing to say of removed rows and of the system's own", async () => {
    const world = newDeployedWorld();
    const own = streamRecord("2", HIGH_WATER_KEY, { ...HIGH_WATER_KEY, shards: 8 }, NOON);
    expect(await handle(world, change("1", undefined), own)).toEqual({ batchItemFailures: [] });
    expect([...world.bus.published, ...world.queues.peek(DEAD_LETTER_QUEUE)]).toEqual([]);
  });
});
