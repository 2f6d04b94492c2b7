import { describe, expect, it } from "vitest";
import { visitRows } from "../../../lib/app/engine/visit-rows.ts";
import { plusMs, toIso } from "../../../lib/core/instant.ts";
import { newBackfill } from "../../../lib/core/new-occurrence.ts";
import { anOccurrence, NOON } from "../../support/occurrences.ts";
import { scheduleOf } from "../../support/schedules.ts";
import { dueAtNextMinute, newWorld, visitDue, type World } from "../../support/world.ts";

const MINUTE = 60_000;
const START = plusMs(NOON, -10_000);
const everyMinute = (scheduleId = "a", given: Record<string, unknown> = {}) => ({
  scheduleId,
  rate: "1 minute",
  ...given,
});
const NEXT = plusMs(NOON, MINUTE);

/** A world in which schedule `a` fires at noon, and noon is now. */
async function atNoon(options: Parameters<typeof newWorld>[0] = {}): Promise<World> {
  const world = newWorld({ start: START, ...options });
  await dueAtNextMinute(world, [everyMinute()]);
  return world;
}

describe("a visit to a due head", () => {
  it("claims it, sends it under its OccurrenceId, and has inserted its successor", async () => {
    const world = await atNoon();
    expect(await visitDue(world)).toBe(1);
    const row = world.row("a", NOON);
    expect(row).toMatchObject({ status: "DISPATCHED", attempts: 1, fencingToken: 1 });
    expect(world.row("a", NEXT)).toMatchObject({ status: "PENDING", dueAt: NEXT });
    expect(world.messages()).toMatchObject([{ occurrenceId: row.occurrenceId, fencingToken: 1, attempt: 1 }]);
    expect(world.queues.peek("default")[0]).toMatchObject({
      deduplicationId: row.occurrenceId,
      groupId: row.occurrenceId,
    });
  });

  it("inserts the successor before it touches the head, so that a stop in between breaks no chain", async () => {
    let stopped = true;
    const world = await atNoon({
      occurrences: (real) => ({
        write: (writes) => (stopped ? Promise.reject(new Error("the process stops")) : real.write(writes)),
      }),
    });
    await expect(visitDue(world)).rejects.toThrow("the process stops");
    expect(world.row("a", NOON).status).toBe("PENDING");
    expect(world.row("a", NEXT).status).toBe("PENDING");

    stopped = false;
    await visitDue(world);
    expect(world.history("a")).toEqual([`${toIso(NOON)} DISPATCHED`, `${toIso(NEXT)} PENDING`]);
    expect(world.messages()).toHaveLength(1);
  });

  it("leaves the head alone where its successor cannot be inserted, and holds up no other", async () => {
    let failing = false;
    const world = newWorld({
      start: START,
      occurrences: (real) => ({
        insert: async (rows) => {
          const verdicts = [...(await real.insert(rows.filter((row) => !failing || row.scheduleId !== "a")))];
          return rows.map((row) =>
            failing && row.scheduleId === "a"
              ? { kind: "failed", error: new Error("throttled") }
              : (verdicts.shift() ?? { kind: "inserted" }),
          );
        },
      }),
    });
    await dueAtNextMinute(world, [everyMinute("a"), everyMinute("b")]);
    failing = true;
    await visitDue(world);
    expect(world.row("a", NOON).status).toBe("PENDING");
    expect(world.row("b", NOON).status).toBe("DISPATCHED");
    failing = false;
    await visitDue(world);
    expect(world.row("a", NOON).status).toBe("DISPATCHED");
  });

  it("is one of several dispatchers' only: the claim is the guard, and the losers count a lost race", async () => {
    const world = await atNoon();
    const { rows } = await world.engine.occurrences.due({ shard: 0, until: NOON, limit: 10 });
    for (let dispatcher = 0; dispatcher < 3; dispatcher += 1) await visitRows(world.engine, rows);
    expect(world.messages()).toHaveLength(1);
    expect(world.row("a", NOON)).toMatchObject({ attempts: 1, fencingToken: 1 });
    expect(world.counts.get("LostRaces")).toBe(2);
  });

  it("walks the chain past instants whose rows are no heads", async () => {
    const world = await atNoon();
    const schedule = scheduleOf(everyMinute());
    const taken = [1, 2, 3].map((minutes) => plusMs(NOON, minutes * MINUTE));
    await world.engine.occurrences.insert(
      taken.map((at) => newBackfill(schedule, { scheduledFor: at, dueAt: at }, plusMs(NOON, 9 * MINUTE), 1)),
    );
    await visitDue(world);
    expect(world.row("a", plusMs(NOON, 4 * MINUTE))).toMatchObject({ status: "PENDING", kind: "scheduled" });
    expect(world.row("a", NOON).status).toBe("DISPATCHED");
  });

  it("leaves one schedule's head where its chain cannot be walked, and takes the others'", async () => {
    const world = newWorld({
      start: START,
      occurrences: (real) => ({
        history: (query) => (query.newestFirst ? real.history(query) : Promise.reject(new Error("throttled"))),
      }),
    });
    await dueAtNextMinute(world, [everyMinute("a"), everyMinute("b")]);
    const schedule = scheduleOf(everyMinute());
    await world.engine.occurrences.insert([
      newBackfill(schedule, { scheduledFor: NEXT, dueAt: NEXT }, plusMs(NOON, 9 * MINUTE), 1),
    ]);
    await visitDue(world);
    expect(world.row("a", NOON).status).toBe("PENDING");
    expect(world.row("b", NOON).status).toBe("DISPATCHED");
  });

  it("is left for the next visit where its schedule cannot be read, and the others are not", async () => {
    let failing = true;
    const world = newWorld({
      start: START,
      schedules: (real) => ({
        read: async (ids) => {
          const verdicts = await real.read(ids);
          return verdicts.map((verdict, index) =>
            failing && ids[index] === "a" && ids.length > 1
              ? { kind: "failed", error: new Error("no answer") }
              : verdict,
          );
        },
      }),
    });
    await dueAtNextMinute(world, [everyMinute("a"), everyMinute("b")]);
    await visitDue(world);
    expect([world.row("a", NOON).status, world.row("b", NOON).status]).toEqual(["PENDING", "DISPATCHED"]);
    failing = false;
    await visitDue(world);
    expect(world.row("a", NOON).status).toBe("DISPATCHED");
  });

  it.each([
    ["deleted", undefined],
    ["paused", everyMinute("a", { paused: true })],
    ["disabled", everyMinute("a", { enabled: false })],
    ["edited", { scheduleId: "a", cron: "30 * * * *" }],
    ["edited", everyMinute("a", { timezone: "Mars/Olympus" })],
  ])("passes it over as %s by the definition in force at the claim", async (reason, item) => {
    const world = await atNoon();
    if (item === undefined) await world.engine.schedules.remove("a");
    else world.put(item);
    await visitDue(world);
    expect(world.row("a", NOON)).toMatchObject({ status: "SKIPPED", skipReason: reason });
    expect(world.messages()).toEqual([]);
  });

  it("runs as it was edited a moment before, in the same write", async () => {
    const world = await atNoon();
    world.put(everyMinute("a", { payload: { v: 2 } }));
    await visitDue(world);
    expect(world.messages()).toMatchObject([{ payload: { v: 2 } }]);
    expect(world.row("a", NOON)).toMatchObject({ payload: '{"v":2}', attempts: 1 });
  });

  it("marks the run that nothing follows, whose schedule is then reconciled, and no other", async () => {
    const world = newWorld({ start: START });
    const ending = everyMinute("ending", { endAt: toIso(NOON) });
    await dueAtNextMinute(world, [{ scheduleId: "once", at: toIso(NOON) }, ending, everyMinute("a")]);
    await visitDue(world);
    for (const name of ["once", "ending"])
      expect(world.row(name, NOON)).toMatchObject({ status: "DISPATCHED", settles: true });
    expect(world.row("a", NOON)).not.toHaveProperty("settles");
  });

  it("writes nothing of schedules: a storm of one-shots must not wait for what becomes of theirs", async () => {
    let writes = 0;
    const counted = async () => {
      writes += 1;
      return "refused" as const;
    };
    const world = newWorld({ start: START });
    const names = Array.from({ length: 20 }, (_, index) => `once-${index}`);
    await dueAtNextMinute(
      world,
      names.map((scheduleId) => ({ scheduleId, at: toIso(NOON) })),
    );
    Object.assign(world.engine.schedules, { setStatus: counted, removeAsRead: counted, put: counted });
    expect(await visitDue(world)).toBe(names.length);
    expect(writes).toBe(0);
  });
});

describe("a visit to a row that can never run", () => {
  it("ends it, and lets its neighbours go on", async () => {
    const world = newWorld({ start: plusMs(NOON, 2 * 86_400_000) });
    const held = { owner: "gone", leaseUntil: NOON, fencingToken: 1, attempts: 1 };
    const rows = [
      anOccurrence({ scheduleId: "unstarted", status: "DISPATCHED", ...held }),
      anOccurrence({ scheduleId: "lost", status: "RUNNING", maxAttempts: 1, ...held }),
      anOccurrence({ scheduleId: "retried", status: "RUNNING", maxAttempts: 2, ...held }),
    ];
    await world.engine.occurrences.insert(rows);
    expect(await visitDue(world)).toBe(3);
    expect(world.row("unstarted", NOON)).toMatchObject({
      status: "DEAD_LETTERED",
      deadLetterReason: "never-started",
    });
    expect(world.row("lost", NOON)).toMatchObject({ status: "DEAD_LETTERED", deadLetterReason: "worker-lost" });
    expect(world.row("retried", NOON)).toMatchObject({ status: "DISPATCHED", fencingToken: 2, suspect: true });
    expect(world.counts.get("DeadLetters")).toBe(2);
  });

  it("does nothing to one that the index shows and that has moved on", async () => {
    const world = await atNoon();
    const { rows } = await world.engine.occurrences.due({ shard: 0, until: NOON, limit: 10 });
    await visitDue(world);
    const before = world.row("a", NOON);
    expect(await visitRows(world.engine, rows)).toEqual({ moved: 0 });
    expect(world.row("a", NOON)).toEqual(before);
  });
});
