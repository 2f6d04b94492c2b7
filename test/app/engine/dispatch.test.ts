import { describe, expect, it } from "vitest";
import { type DispatchWindow, dispatch, TAKEOVER_AFTER_MS } from "../../../lib/app/engine/dispatch.ts";
import { reconcile } from "../../../lib/app/engine/reconcile.ts";
import { ClockUnavailableError } from "../../../lib/app/errors.ts";
import { type Instant, plusMs } from "../../../lib/core/instant.ts";
import { forgetfulClock } from "../../support/forgetful-clock.ts";
import { anOccurrence, NOON } from "../../support/occurrences.ts";
import { newWorld, type World } from "../../support/world.ts";

const SECOND = 1_000;
const alone = (world: World, soloMs: number, overlapMs = 0): DispatchWindow => {
  const soloUntil = plusMs(world.time.now(), soloMs);
  return { dispatcher: 0, of: 1, soloUntil, until: plusMs(soloUntil, overlapMs) };
};
const neverAborted = new AbortController().signal;
const run = (world: World, window: DispatchWindow, signal = neverAborted) =>
  world.time.finish(dispatch(world.engine, window, signal));

/** A run somebody asked for, due at `dueAt` on `shard`. */
const manual = (name: string, dueAt: Instant, shard = 0) =>
  anOccurrence({ kind: "manual", firing: `manual#${name}`, dueAt, firstDueAt: dueAt, shard });

describe("a dispatch", () => {
  it("claims each row at its instant to the millisecond, looking ahead one poll", async () => {
    const world = newWorld();
    const instants = [250, 1_000, 1_001, 4_750].map((ms) => plusMs(NOON, ms));
    await world.engine.occurrences.insert(instants.map((at) => manual(String(at), at)));
    expect(await run(world, alone(world, 6 * SECOND))).toEqual({ moved: 4 });
    for (const at of instants) expect(world.row("nightly", `manual#${at}`).claimedAt).toBe(at);
  });

  it("fires every second of a minute once, and skips none (F178, F221)", async () => {
    const world = newWorld({ start: plusMs(NOON, -500) });
    world.put({ scheduleId: "tick", rate: "1 second" });
    await world.time.finish(reconcile(world.engine, "tick"));
    await run(world, alone(world, 60 * SECOND));
    const rows = world.store.allOccurrences().filter(({ status }) => status === "DISPATCHED");
    // The last one by looking ahead, past the end of the window.
    expect(rows.map(({ scheduledFor }) => scheduledFor - NOON)).toEqual(
      Array.from({ length: 61 }, (_, second) => second * SECOND),
    );
    for (const row of rows) expect(row.claimedAt).toBe(row.scheduledFor);
  });

  it("ends when its window does, and leaves what is due later", async () => {
    const world = newWorld();
    await world.engine.occurrences.insert([manual("later", plusMs(NOON, 10 * SECOND))]);
    expect(await run(world, alone(world, 5 * SECOND))).toEqual({ moved: 0 });
    expect(world.time.now()).toBe(plusMs(NOON, 5 * SECOND));
    expect(world.row("nightly", "manual#later").status).toBe("PENDING");
  });

  it("ends at once when it is told to, between two claims", async () => {
    const world = newWorld();
    await world.engine.occurrences.insert([manual("a", plusMs(NOON, 3 * SECOND))]);
    const end = new AbortController();
    const dispatched = dispatch(world.engine, alone(world, 60 * SECOND), end.signal);
    await world.time.pass(1_500);
    end.abort();
    expect(await world.time.finish(dispatched)).toEqual({ moved: 0 });
    expect(world.time.now()).toBe(plusMs(NOON, 1_500));
  });

  it("takes in its overlap only what has been lying for five seconds, since its successor may be at it", async () => {
    const world = newWorld();
    const window = { ...alone(world, 0, 20 * SECOND) };
    await world.engine.occurrences.insert([
      manual("old", plusMs(NOON, -TAKEOVER_AFTER_MS)),
      manual("fresh", plusMs(NOON, -1)),
    ]);
    await run(world, { ...window, until: plusMs(NOON, 3 * SECOND) });
    expect(world.row("nightly", "manual#old").status).toBe("DISPATCHED");
    expect(world.row("nightly", "manual#fresh").status).toBe("PENDING");
    await run(world, { ...window, until: plusMs(NOON, 8 * SECOND) });
    expect(world.row("nightly", "manual#fresh").status).toBe("DISPATCHED");
  });

  it("pages past more rows than one query answers", async () => {
    const world = newWorld();
    await world.engine.occurrences.insert(Array.from({ length: 250 }, (_, index) => manual(`m${index}`, NOON)));
    expect(await run(world, alone(world, SECOND))).toEqual({ moved: 250 });
  });

  it("serves shards that a smaller number of them left behind: the high-water mark counts", async () => {
    const world = newWorld({ settings: { shards: 2 } });
    await world.engine.occurrences.shardHighWater(8);
    await world.engine.occurrences.insert([manual("old-shard", NOON, 7)]);
    expect(await run(world, alone(world, SECOND))).toEqual({ moved: 1 });
  });
});

describe("several dispatchers", () => {
  const second = (world: World, soloMs: number): DispatchWindow => ({ ...alone(world, soloMs), dispatcher: 1, of: 2 });

  it("serve their own shards, and each other's only once a row has been lying for five seconds", async () => {
    const world = newWorld({ settings: { shards: 2 } });
    await world.engine.occurrences.insert([manual("mine", NOON, 1), manual("others", NOON, 0)]);
    await run(world, second(world, 4 * SECOND));
    expect(world.row("nightly", "manual#mine").status).toBe("DISPATCHED");
    expect(world.row("nightly", "manual#others").status).toBe("PENDING");
    await run(world, second(world, 4 * SECOND));
    expect(world.row("nightly", "manual#others")).toMatchObject({
      status: "DISPATCHED",
      claimedAt: plusMs(NOON, TAKEOVER_AFTER_MS),
    });
  });

  it("leave no row to a dead one's minute: of five, four die, and all is claimed (F181)", async () => {
    const world = newWorld({ settings: { shards: 10 } });
    let draw = 0;
    const engine = { ...world.engine, random: () => (draw++ % 10) / 10 };
    await engine.occurrences.insert(Array.from({ length: 10 }, (_, shard) => manual(`on-${shard}`, NOON, shard)));
    const window = { ...alone(world, 50 * SECOND), dispatcher: 3, of: 5 };
    expect(await world.time.finish(dispatch(engine, window, neverAborted))).toEqual({ moved: 10 });
  });

  it("help nobody while their own shards have work", async () => {
    const world = newWorld({ settings: { shards: 2 } });
    const own = Array.from({ length: 30 }, (_, index) => manual(`own-${index}`, plusMs(NOON, index * 200), 1));
    await world.engine.occurrences.insert([...own, manual("others", plusMs(NOON, -60 * SECOND), 0)]);
    const dispatched = dispatch(world.engine, second(world, 20 * SECOND), neverAborted);
    await world.time.pass(5_000);
    const claimedBy = world.store.allOccurrences().filter(({ status }) => status === "DISPATCHED");
    expect(claimedBy.length).toBeGreaterThan(20);
    await world.time.finish(dispatched);
    expect(world.row("nightly", "manual#others").status).toBe("DISPATCHED");
  });
});

describe("a dispatch in trouble", () => {
  it("goes on where a look at one shard fails, and holds up no other shard", async () => {
    let failures = 0;
    const world = newWorld({
      settings: { shards: 2 },
      occurrences: (real) => ({
        due: (query) => {
          if (query.shard === 0 && failures < 3) {
            failures += 1;
            return Promise.reject(new Error("throttled"));
          }
          return real.due(query);
        },
      }),
    });
    await world.engine.occurrences.insert([manual("throttled", NOON, 0), manual("other", NOON, 1)]);
    await run(world, alone(world, 10 * SECOND));
    expect(world.row("nightly", "manual#other").claimedAt).toBe(NOON);
    expect(world.row("nightly", "manual#throttled").claimedAt).toBe(plusMs(NOON, 3 * SECOND));
    expect(world.counts.get("StoreFailures")).toBe(3);
  });

  it("claims nothing while the store's time is not known, and ends as a whole", async () => {
    const world = newWorld({ settings: { shards: 4 } });
    await world.engine.occurrences.insert([manual("due", plusMs(NOON, 3 * SECOND))]);
    let lost = false;
    const clock = {
      ...world.engine.clock,
      now: () => {
        if (lost) throw new ClockUnavailableError("no sample");
        return world.time.now();
      },
    };
    const dispatched = dispatch({ ...world.engine, clock }, alone(world, 60 * SECOND), neverAborted);
    await world.time.pass(1_500);
    lost = true;
    await expect(world.time.finish(dispatched)).rejects.toThrow(ClockUnavailableError);
    expect(world.row("nightly", "manual#due").status).toBe("PENDING");
  });

  it.each(["claim", "send"] as const)("goes on where its store's time is lost with its %s", async (lostWith) => {
    const world = newWorld();
    const { occurrences, queue } = world.engine;
    const { clock, forget, learn } = forgetfulClock(world.engine.clock);
    await occurrences.insert([manual("first", NOON), manual("second", plusMs(NOON, 3 * SECOND))]);
    let lost = false;
    const losing = <Answer>(what: typeof lostWith, answer: Answer): Answer => {
      if (what === lostWith && !lost) {
        lost = true;
        forget();
      }
      return answer;
    };
    const engine = {
      ...world.engine,
      occurrences: {
        ...occurrences,
        write: async (writes: Parameters<typeof occurrences.write>[0]) =>
          losing("claim", await occurrences.write(writes)),
      },
      queue: { send: async (messages: Parameters<typeof queue.send>[0]) => losing("send", await queue.send(messages)) },
      clock: {
        ...clock,
        // It asks for the time before it waits.
        sleepUntil: (...args: Parameters<typeof clock.sleepUntil>) => {
          learn();
          return clock.sleepUntil(...args);
        },
      },
    };
    await world.time.finish(dispatch(engine, alone(world, 10 * SECOND), neverAborted));
    expect(world.row("nightly", "manual#second").status).toBe("DISPATCHED");
    expect(lost).toBe(true);
  });
});
