import { describe, expect, it } from "vitest";
import { createMemoryBus } from "../../../lib/adapters/memory/bus.ts";
import { announce, type RowChange } from "../../../lib/app/engine/announce.ts";
import { sweep } from "../../../lib/app/engine/sweep.ts";
import { DEAD_LETTER_QUEUE, type SendVerdict } from "../../../lib/app/ports.ts";
import { plusMs } from "../../../lib/core/instant.ts";
import type { Occurrence } from "../../../lib/core/occurrence.ts";
import { anOccurrence, NOON } from "../../support/occurrences.ts";
import { newWorld, type World, type WorldOptions } from "../../support/world.ts";

const error = { name: "TypeError", message: "no such host" };
const dead = (scheduleId: string, given: Partial<Occurrence> = {}) => {
  const { dueAt: _, ...row } = anOccurrence({
    scheduleId,
    payload: '{"to":"you"}',
    status: "DEAD_LETTERED",
    attempts: 10,
    fencingToken: 10,
    deadLetterReason: "attempts-exhausted",
    deadLetterShard: 0,
    deadLetteredAt: NOON,
    lastError: error,
    ...given,
  });
  return row;
};
/** The change by which a run became what it is. */
const ended = (after: Occurrence): RowChange => ({ before: { ...after, status: "RUNNING" }, after });
/** A world in which those rows stand. */
async function worldOf(rows: readonly Occurrence[], options: WorldOptions = {}): Promise<World> {
  const world = newWorld(options);
  await world.engine.occurrences.insert(rows);
  return world;
}
const answering = (verdicts: readonly SendVerdict[]): WorldOptions => ({
  queue: () => ({ send: async (messages) => messages.map((_, index) => verdicts[index] ?? { kind: "accepted" }) }),
});
const receipts = (world: World) => world.store.allOccurrences().map(({ announcedAt }) => announcedAt);

describe("a dead letter", () => {
  it("goes to its queue with the reason where the console shows it, and to the bus, and has its receipt", async () => {
    const row = dead("a");
    const world = await worldOf([row]);
    world.time.leap(2_000);
    expect(await announce(world.engine, world.bus, [ended(row)])).toEqual([true]);
    expect(world.queues.peek(DEAD_LETTER_QUEUE)).toMatchObject([
      {
        deduplicationId: `dead:${row.occurrenceId}:10`,
        attributes: {
          reason: "attempts-exhausted",
          errorName: "TypeError",
          errorMessage: "no such host",
          attempts: "10 of 10",
          scheduleId: "a",
          scheduledFor: "2026-11-29T12:00:00.000Z",
          occurrenceId: row.occurrenceId,
          fencingToken: "10",
        },
      },
    ]);
    expect(world.messages(DEAD_LETTER_QUEUE)).toMatchObject([
      { deadLetter: true, fencingToken: 10, payload: { to: "you" } },
    ]);
    expect(world.bus.published).toMatchObject([{ detailType: "Occurrence Dead-Lettered" }]);
    expect(receipts(world)).toEqual([plusMs(NOON, 2_000)]);
  });

  it("whose record comes twice is told twice with one identity, and lies in the queue once", async () => {
    const row = dead("a");
    const world = await worldOf([row]);
    for (let times = 0; times < 2; times += 1) await announce(world.engine, world.bus, [ended(row)]);
    expect(world.queues.peek(DEAD_LETTER_QUEUE)).toHaveLength(1);
    const identities = world.bus.published.map(({ detail }) => [
      detail["occurrenceId"],
      detail["fencingToken"],
      detail["status"],
    ]);
    expect(identities[0]).toEqual(identities[1]);
  });

  it("brings no news by its receipt", async () => {
    const row = dead("a");
    const world = await worldOf([row]);
    const change = { before: row, after: { ...row, announcedAt: NOON } };
    expect(await announce(world.engine, world.bus, [change])).toEqual([true]);
    expect([...world.queues.peek(DEAD_LETTER_QUEUE), ...world.bus.published]).toEqual([]);
  });

  it("that its queue did not take is to be brought again, and has no receipt; its neighbours have", async () => {
    const rows = ["a", "b", "c"].map((name) => dead(name));
    const refused = { kind: "refused", error: new Error("throttled") } as const;
    const unknown = { kind: "unknown", error: new Error("no answer") } as const;
    const world = await worldOf(rows, answering([refused, { kind: "accepted" }, unknown]));
    expect(await announce(world.engine, world.bus, rows.map(ended))).toEqual([false, true, false]);
    expect(receipts(world)).toEqual([undefined, NOON, undefined]);
  });

  it("that its queue can never take blocks nobody behind it: the row has it", async () => {
    const rows = ["a", "b"].map((name) => dead(name));
    const world = await worldOf(
      rows,
      answering([{ kind: "rejected", error: { name: "TooLarge", message: "too large" } }]),
    );
    expect(await announce(world.engine, world.bus, rows.map(ended))).toEqual([true, true]);
    expect(world.logs).toContainEqual(expect.stringContaining("too large"));
  });

  it("whose schedule's dead letters cannot be counted is to be brought again, and holds up no other", async () => {
    const rows = [dead("uncountable"), dead("b")];
    const world = await worldOf(rows, {
      occurrences: (real) => ({
        history: (query) =>
          query.scheduleId === "uncountable" ? Promise.reject(new Error("throttled")) : real.history(query),
      }),
    });
    world.put({ scheduleId: "uncountable", rate: "1 minute", pauseAfterDeadLetters: 3 });
    expect(await announce(world.engine, world.bus, rows.map(ended))).toEqual([false, true]);
    expect(world.queues.peek(DEAD_LETTER_QUEUE)).toHaveLength(2);
    expect(receipts(world)).toEqual([undefined, NOON]);
  });

  it("that was replayed meanwhile gets no receipt", async () => {
    const row = dead("a");
    const world = await worldOf([{ ...row, status: "PENDING", dueAt: NOON }]);
    expect(await announce(world.engine, world.bus, [ended(row)])).toEqual([true]);
    expect(receipts(world)).toEqual([undefined]);
  });
});

describe("news", () => {
  it("of successes, starts and retries goes out where it was asked for", async () => {
    const rows = (["RUNNING", "SUCCEEDED", "RETRYING", "CANCELLED"] as const).map((status) =>
      ended(anOccurrence({ status, fencingToken: 1 })),
    );
    const changes = rows.map(({ after }) => ({ before: anOccurrence(), after }));
    const quiet = newWorld();
    await announce(quiet.engine, quiet.bus, changes);
    expect(quiet.bus.published.map(({ detailType }) => detailType)).toEqual(["Occurrence Cancelled"]);
    const talkative = newWorld({
      settings: { announce: { deployment: "Test", started: true, succeeded: true, retrying: true } },
    });
    await announce(talkative.engine, talkative.bus, changes);
    expect(talkative.bus.published).toHaveLength(4);
  });

  it("that the bus did not take is to be brought again, and nothing else", async () => {
    const rows = ["a", "b"].map((name) => dead(name));
    const world = await worldOf(rows);
    const bus = createMemoryBus(({ detail }) => (detail["scheduleId"] === "a" ? new Error("throttled") : undefined));
    expect(await announce(world.engine, bus, rows.map(ended))).toEqual([false, true]);
    expect(receipts(world)).toEqual([undefined, NOON]);
  });

  it("of nothing is nothing", async () => {
    const world = newWorld();
    expect(await announce(world.engine, world.bus, [])).toEqual([]);
  });
});

describe("a sweep", () => {
  const neverAborted = new AbortController().signal;
  const minutely = (scheduleId: string, given = {}) => ({ scheduleId, rate: "1 minute", ...given });

  it("starts chains that no record started, and finds nothing to do the second time", async () => {
    const world = newWorld();
    for (let index = 0; index < 250; index += 1) world.put(minutely(`s${index}`));
    const first = await world.time.finish(sweep(world.engine, world.bus, neverAborted));
    expect(first).toEqual({ schedules: 250, mended: 250, failed: 0, announced: 0 });
    expect(world.store.allOccurrences()).toHaveLength(250);
    const second = await world.time.finish(sweep(world.engine, world.bus, neverAborted));
    expect(second).toMatchObject({ schedules: 250, mended: 0 });
  });

  it("counts a schedule that cannot be mended and goes on (F196)", async () => {
    const world = newWorld({
      occurrences: (real) => ({
        history: (query) => (query.scheduleId === "bad" ? Promise.reject(new Error("throttled")) : real.history(query)),
      }),
    });
    for (const name of ["a", "bad", "c"]) world.put(minutely(name));
    world.put({ scheduleId: "invalid", cron: "no" });
    const summary = await world.time.finish(sweep(world.engine, world.bus, neverAborted));
    expect(summary).toMatchObject({ schedules: 4, mended: 3, failed: 1 });
    expect(world.history("c")).toHaveLength(1);
  });

  it("announces dead letters that nobody heard of, on every shard, and no other", async () => {
    const rows = [
      dead("silent", { shard: 3, deadLetterShard: 3 }),
      dead("announced", { announcedAt: NOON }),
      ...Array.from({ length: 120 }, (_, index) => dead(`many-${index}`)),
    ];
    const world = await worldOf(rows, { settings: { shards: 4 } });
    const summary = await world.time.finish(sweep(world.engine, world.bus, neverAborted));
    expect(summary.announced).toBe(121);
    expect(world.queues.peek(DEAD_LETTER_QUEUE)).toHaveLength(121);
    expect(receipts(world).every((at) => at !== undefined)).toBe(true);
    expect((await sweep(world.engine, world.bus, neverAborted)).announced).toBe(0);
  });

  it("reconciles also where the dead letters of a shard cannot be read, and announces those of the others", async () => {
    const rows = [dead("a"), dead("b", { shard: 1, deadLetterShard: 1 })];
    const world = await worldOf(rows, {
      settings: { shards: 2 },
      occurrences: (real) => ({
        deadLetters: (query) => (query.shard === 0 ? Promise.reject(new Error("throttled")) : real.deadLetters(query)),
      }),
    });
    world.put(minutely("c"));
    const summary = await world.time.finish(sweep(world.engine, world.bus, neverAborted));
    expect(summary).toMatchObject({ schedules: 1, mended: 1, announced: 1 });
    expect(world.logs).toContainEqual(expect.stringMatching(/^warn: .*dead letters.*throttled/));
  });

  it("ends when its time is up, and the next one goes on from there", async () => {
    const world = newWorld();
    for (let index = 0; index < 250; index += 1) world.put(minutely(`s${index}`));
    const first = await sweep(world.engine, world.bus, AbortSignal.abort());
    expect(first).toMatchObject({ schedules: 100, cursor: expect.any(String) });
    const rest = await sweep(world.engine, world.bus, neverAborted);
    expect(rest).toEqual({ schedules: 150, mended: 150, failed: 0, announced: 0 });
  });
});
