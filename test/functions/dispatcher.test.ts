import { afterEach, describe, expect, it, vi } from "vitest";
import { createHandler } from "../../functions/dispatcher.ts";
import { plusMs } from "../../lib/core/instant.ts";
import { anOccurrence, NOON } from "../support/occurrences.ts";
import type { WorldOptions } from "../support/world.ts";
import { newDeployedWorld } from "./deployed-world.ts";

vi.mock("../../lib/runtime/create-engine.ts", async () => ({
  createEngine: (await import("./deployed-world.ts")).engineOf,
}));
afterEach(() => void vi.useRealTimers());

const PLENTY = { getRemainingTimeInMillis: () => 100_000 };
const TICK = { dispatcher: 0, of: 1 };

describe("the dispatcher", () => {
  it("works for its minute and its overlap, and then ends with all that it began", async () => {
    const world = newDeployedWorld();
    await world.engine.occurrences.insert([
      anOccurrence({ kind: "manual", firing: "manual#a", dueAt: plusMs(NOON, 59_000), payload: "{}" }),
    ]);
    expect(await world.time.finish(createHandler(world.env)(TICK, PLENTY))).toEqual({ moved: 1 });
    expect(world.time.now()).toBe(plusMs(NOON, 80_000));
    expect(world.did).toEqual(["probe", "narrow", "narrowing ended", "flush"]);
  });

  it("ends before Lambda ends it", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const world = newDeployedWorld();
    const work = createHandler(world.env)(TICK, { getRemainingTimeInMillis: () => 4_999 });
    await world.time.pass(0);
    vi.advanceTimersByTime(250);
    expect(await world.time.finish(work)).toEqual({ moved: 0 });
    expect(world.time.now()).toBe(NOON);
    expect(vi.getTimerCount()).toBe(0);
  });

  describe("beside its work", () => {
    const dead = anOccurrence({ status: "FAILED", deadLetterShard: 0, deadLetteredAt: NOON });
    const openAfter = async (tick: object, options: WorldOptions = {}) => {
      const world = newDeployedWorld(options);
      await world.engine.occurrences.insert([dead]);
      await world.time.finish(createHandler(world.env)(tick, PLENTY));
      return world.counts.get("OpenDeadLetters");
    };

    it("tells once how many dead letters are open, if it is the first of the dispatchers", async () => {
      expect(await openAfter(TICK)).toBe(1);
      expect(await openAfter({ dispatcher: 1, of: 2 })).toBeUndefined();
    });

    it("holds up no claim however long counting takes", async () => {
      const world = newDeployedWorld({
        occurrences: () => ({ countDeadLetters: () => world.time.host.sleep(70_000).then(() => 0) }),
      });
      await world.engine.occurrences.insert([
        anOccurrence({ kind: "manual", firing: "manual#a", dueAt: plusMs(NOON, 2_000), payload: "{}" }),
      ]);
      await world.time.finish(createHandler(world.env)(TICK, PLENTY));
      expect(world.row("nightly", "manual#a").claimedAt).toBe(plusMs(NOON, 2_000));
    });
  });

  it.each<[unknown, string]>([
    [{ dispatcher: -1, of: 1 }, "dispatcher: must not be negative, got -1"],
    [{ dispatcher: 0, of: 0 }, "of: must be positive, got 0"],
    [{}, "dispatcher: must be a whole number, got nothing; of: must be a whole number, got nothing"],
    [null, "must be a map of dispatcher and of, got null"],
  ])("refuses the tick %j", async (event, message) => {
    await expect(createHandler(newDeployedWorld().env)(event, PLENTY)).rejects.toThrow(`tick is not valid: ${message}`);
  });

  it("writes what it counted also where it fails, and leaves nothing running", async () => {
    const world = newDeployedWorld({
      occurrences: () => ({ shardHighWater: () => Promise.reject(new Error("no store")) }),
    });
    await expect(world.time.finish(createHandler(world.env)(TICK, PLENTY))).rejects.toThrow("no store");
    expect(world.did.slice(-2)).toEqual(["narrowing ended", "flush"]);
    expect(world.time.now()).toBe(NOON);
  });
});
