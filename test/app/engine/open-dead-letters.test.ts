import { describe, expect, it } from "vitest";
import { gaugeOpenDeadLetters, OPEN_DEAD_LETTERS_COUNTED_MAX } from "../../../lib/app/engine/open-dead-letters.ts";
import { discardDeadLetter, replayDeadLetter } from "../../../lib/app/manage/dead-letters.ts";
import { type Instant, plusMs } from "../../../lib/core/instant.ts";
import { anOccurrence, NOON } from "../../support/occurrences.ts";
import { newWorld, type World, type WorldOptions } from "../../support/world.ts";

const SHARDS = 3;
const never = new AbortController().signal;

/** A world with a dead letter on each of its shards in turn. */
async function worldWith(dead: number, options: WorldOptions = {}): Promise<World> {
  const world = newWorld({ ...options, settings: { shards: SHARDS } });
  const rows = Array.from({ length: dead }, (_, index) => {
    const { dueAt: _due, ...row } = anOccurrence({ scheduledFor: at(index) });
    return { ...row, status: "DEAD_LETTERED", deadLetterShard: index % SHARDS, deadLetteredAt: NOON } as const;
  });
  await world.engine.occurrences.insert([...rows, anOccurrence({ scheduleId: "alive" })]);
  return world;
}
const at = (index: number): Instant => plusMs(NOON, -index * 60_000);
const told = async (world: World, signal = never): Promise<number | undefined> => {
  await gaugeOpenDeadLetters(world.engine, signal);
  return world.counts.get("OpenDeadLetters");
};

describe("the gauge of open dead letters", () => {
  it("counts the rows of every shard, and falls as they are replayed or discarded", async () => {
    const world = await worldWith(5);
    expect(await told(world)).toBe(5);
    const manager = { ...world.engine, settings: { ...world.engine.settings, queues: {} } };
    const [first, second] = [at(0), at(1)].map((firing) => world.row("nightly", firing));
    if (first === undefined || second === undefined) throw new Error("no rows");
    await replayDeadLetter(manager, first);
    await discardDeadLetter(manager, second);
    expect(await told(world)).toBe(3);
  });

  it("says none where there is none, so that an alarm ends", async () => {
    expect(await told(await worldWith(0))).toBe(0);
  });

  it("stops counting at a thousand", async () => {
    const limits: number[] = [];
    const world = await worldWith(OPEN_DEAD_LETTERS_COUNTED_MAX + SHARDS, {
      occurrences: (real) => ({
        countDeadLetters: (query) => {
          limits.push(query.limit);
          return real.countDeadLetters(query);
        },
      }),
    });
    expect(await told(world)).toBe(OPEN_DEAD_LETTERS_COUNTED_MAX);
    expect(limits).toEqual([1_000, 665, 331]);
  });

  it("says nothing rather than too little", async () => {
    const world = await worldWith(2, {
      occurrences: (real) => ({
        countDeadLetters: (query) =>
          query.shard === 1 ? Promise.reject(new Error("throttled")) : real.countDeadLetters(query),
      }),
    });
    expect(await told(world)).toBeUndefined();
    expect(world.counts.get("StoreFailures")).toBe(1);
    expect(await told(await worldWith(2), AbortSignal.abort())).toBeUndefined();
  });
});
