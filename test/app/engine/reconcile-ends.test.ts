import { describe, expect, it } from "vitest";
import { type Instant, instant, plusMs, toIso } from "../../../lib/core/instant.ts";
import { newManualRun } from "../../../lib/core/new-occurrence.ts";
import { definitionVersion } from "../../../lib/core/schedule-version.ts";
import { anOccurrence, NOON } from "../../support/occurrences.ts";
import { scheduleOf } from "../../support/schedules.ts";
import { newWorld, visitDue } from "../../support/world.ts";

import {
  DAY,
  edit,
  HOUR,
  hourly,
  MINUTE,
  ONE,
  reconciled,
  SECOND,
  statusOf,
  TWO,
  worldOf,
} from "./reconciled-world.ts";

describe("a schedule that fires nothing for now", () => {
  it.each([
    ["DISABLED", { enabled: false }],
    ["PAUSED", { paused: { at: toIso(NOON), by: "ops" } }],
  ])("is %s, has no future head, and goes on from when it was started again (F227)", async (state, given) => {
    const world = await worldOf(hourly());
    edit(world, hourly(given));
    await reconciled(world, 0);
    expect(world.history("a")).toEqual([]);
    expect(statusOf(world)).toMatchObject({ state });

    world.time.leap(3 * HOUR);
    const { status } = Object(world.store.allSchedules()[0]);
    world.put(hourly({ status, resumedAt: toIso(world.time.now()) }));
    await reconciled(world, 0);
    expect(world.history("a")).toEqual([`${toIso(plusMs(NOON, 4 * HOUR))} PENDING`]);
    expect(statusOf(world)).toMatchObject({ state: "ACTIVE", since: toIso(world.time.now()) });
  });

  it("goes on from its resumption, not from the record of it", async () => {
    const world = await worldOf(hourly({ paused: true }));
    world.time.leap(50 * MINUTE + 500);
    const { status } = Object(world.store.allSchedules()[0]);
    world.put(hourly({ status, resumedAt: toIso(plusMs(ONE, 100)) }));
    await reconciled(world, 900);
    expect(world.history("a")).toEqual([`${toIso(TWO)} PENDING`]);
  });

  it("says that it has ended once nothing will fire any more", async () => {
    const world = await worldOf(hourly({ endAt: toIso(plusMs(NOON, MINUTE)) }));
    expect(statusOf(world)).toMatchObject({ state: "ENDED" });
    expect(world.history("a")).toEqual([]);
  });
});

describe("a deletion", () => {
  it("removes the future head, so that a schedule put again finds its instant free (F220, F238)", async () => {
    const world = await worldOf(hourly());
    await world.engine.schedules.remove("a");
    expect(await reconciled(world, 0)).toEqual({ state: "DELETED", changed: true });
    expect(world.history("a")).toEqual([]);
    world.put(hourly());
    await reconciled(world, 0);
    expect(world.history("a")).toEqual([`${toIso(ONE)} PENDING`]);
  });

  it("cancels all else that is unfinished, and leaves what has ended", async () => {
    const world = await worldOf(hourly());
    const held = { scheduleId: "a", owner: "x", leaseUntil: plusMs(NOON, HOUR), fencingToken: 1, attempts: 1 };
    const at = (minutes: number) => ({ ...held, scheduledFor: plusMs(NOON, -minutes * MINUTE) });
    const schedule = scheduleOf(hourly());
    await world.engine.occurrences.insert([
      anOccurrence({ ...at(1), status: "RUNNING" }),
      anOccurrence({ ...at(2), status: "RETRYING" }),
      anOccurrence({ ...at(3), status: "SUCCEEDED" }),
      anOccurrence({ ...at(4), status: "DISPATCHED", queue: "plain", enqueuedToken: 1 }),
      newManualRun(schedule, "now", NOON, 1),
    ]);
    await world.engine.schedules.remove("a");
    await reconciled(world, 0);
    expect(world.history("a").map((line) => line.split(" ")[1])).toEqual([
      // A plain reader of SQS may have it already: that cannot be taken back.
      "DISPATCHED",
      "SUCCEEDED",
      "CANCELLED",
      "CANCELLED",
      "CANCELLED",
    ]);
  });

  it("cancels a run as it is by then where it moved on meanwhile", async () => {
    let moves = 1;
    const world = newWorld({
      start: plusMs(NOON, 10 * MINUTE),
      occurrences: (real) => ({
        write: async (writes) => {
          if (moves-- > 0)
            await real.write(
              writes.map(({ key }) => ({ key, guard: [], change: { set: { status: "RUNNING", owner: "r" } } })),
            );
          return real.write(writes);
        },
      }),
    });
    await world.engine.occurrences.insert([
      anOccurrence({
        scheduleId: "a",
        status: "DISPATCHED",
        owner: "d",
        leaseUntil: ONE,
        fencingToken: 1,
        attempts: 1,
      }),
    ]);
    await reconciled(world);
    expect(world.row("a", NOON)).toMatchObject({ status: "CANCELLED", fencingToken: 2, leaseUntil: ONE });
  });

  it("of a schedule with more history than one visit looks through is done all the same: to try again would see the same", async () => {
    const world = newWorld({
      occurrences: (real) => ({
        history: async ({ cursor: _, ...query }) =>
          query.statuses === undefined ? real.history(query) : { ...(await real.history(query)), cursor: "more" },
      }),
    });
    await world.engine.occurrences.insert([
      anOccurrence({ scheduleId: "a", status: "RETRYING", fencingToken: 1, attempts: 1 }),
    ]);
    expect(await reconciled(world)).toEqual({ state: "DELETED", changed: true });
    expect(world.row("a", NOON).status).toBe("CANCELLED");
    expect(world.logs).toContainEqual(expect.stringMatching(/^warn: .*older/));
  });

  it("fails where a run could not be cancelled, so that its record comes again", async () => {
    const world = newWorld({
      occurrences: () => ({
        write: async (writes) => writes.map(() => ({ kind: "failed", error: new Error("throttled") })),
      }),
    });
    await world.engine.occurrences.insert([
      anOccurrence({ scheduleId: "a", status: "RETRYING", fencingToken: 1, attempts: 1 }),
    ]);
    await expect(reconciled(world)).rejects.toThrow(/could be cancelled/);
  });
});

describe("a schedule deleted and put again", () => {
  it("finds instants that ran, and goes on past them: the same instant is the same run", async () => {
    const world = await worldOf(hourly());
    world.time.leap(50 * MINUTE);
    await visitDue(world);
    await world.engine.schedules.remove("a");
    await reconciled(world, 0);
    world.put(hourly());
    await reconciled(world, 10 * SECOND);
    expect(world.history("a")).toEqual([`${toIso(ONE)} CANCELLED`, `${toIso(TWO)} PENDING`]);
  });

  it("counts from when it was put again, also where its status still stood (F220)", async () => {
    const world = await worldOf(hourly());
    await world.engine.schedules.remove("a");
    await reconciled(world, 0);
    world.time.leap(5 * HOUR);
    world.put(hourly());
    await reconciled(world, 0);
    expect(world.history("a")).toEqual([`${toIso(plusMs(NOON, 6 * HOUR))} PENDING`]);
  });
});

describe("a chain that broke", () => {
  it("goes on from its newest row: what lies before that was dealt with", async () => {
    const world = await worldOf(hourly());
    const version = definitionVersion(hourly());
    await world.engine.occurrences.write([
      {
        key: world.row("a", ONE),
        guard: [],
        change: { set: { status: "SUCCEEDED", scheduleVersion: version }, remove: ["dueAt"] },
      },
    ]);
    world.time.leap(3 * HOUR);
    await reconciled(world);
    expect(world.history("a")).toEqual([`${toIso(ONE)} SUCCEEDED`, `${toIso(TWO)} PENDING`]);
  });

  it("goes no further back than a catch-up would where no row tells", async () => {
    const world = newWorld({ start: plusMs(NOON, 10 * DAY) });
    const status = { state: "ACTIVE", version: definitionVersion(hourly()), since: toIso(NOON) };
    world.put(hourly({ status }));
    await reconciled(world);
    expect(world.history("a")).toEqual([`${toIso(plusMs(NOON, 9 * DAY + HOUR))} PENDING`]);
  });
});

describe("a one-shot", () => {
  const once = (at: Instant, given: Record<string, unknown> = {}) => ({ scheduleId: "a", at: toIso(at), ...given });

  it("has one head, ahead of its time or up to the catch-up window behind it", async () => {
    for (const at of [ONE, NOON, plusMs(NOON, -23 * HOUR)]) {
      const world = await worldOf(once(at));
      expect(world.history("a")).toEqual([`${toIso(at)} PENDING`]);
      expect(statusOf(world)).toMatchObject({ state: "ACTIVE" });
    }
  });

  it("is over where its time lies before the window", async () => {
    const world = await worldOf(once(plusMs(NOON, -25 * HOUR)));
    expect(world.history("a")).toEqual([]);
    expect(statusOf(world)).toMatchObject({ state: "ENDED" });
  });

  it("that is finished stays finished, however often it is put again (F232)", async () => {
    const world = await worldOf(once(NOON), plusMs(NOON, -MINUTE));
    world.time.leap(MINUTE);
    await visitDue(world);
    world.put(once(NOON));
    await reconciled(world, 0);
    await world.engine.schedules.remove("a");
    await reconciled(world, 0);
    world.put(once(NOON));
    await reconciled(world, 0);
    expect(world.messages()).toHaveLength(1);
    expect(statusOf(world)).toMatchObject({ state: "ENDED" });
    expect(world.history("a")).toEqual([`${toIso(NOON)} CANCELLED`]);
  });

  it("moved to another time fires there instead", async () => {
    const world = await worldOf(once(ONE));
    edit(world, once(TWO));
    await reconciled(world, 0);
    expect(world.history("a")).toEqual([`${toIso(TWO)} PENDING`]);
  });

  it("of a local time that occurs twice is over after the second", async () => {
    // In Berlin the hour from two to three of 25 October 2026 occurs twice, first at midnight UTC.
    const first = instant(Date.UTC(2026, 9, 25, 0, 30));
    const both = { scheduleId: "a", at: "2026-10-25T02:30", timezone: "Europe/Berlin", dst: { repeated: "both" } };
    const world = await worldOf(both, plusMs(first, -MINUTE));
    world.time.leap(MINUTE);
    await visitDue(world);
    await reconciled(world);
    expect(statusOf(world)).toMatchObject({ state: "ACTIVE" });
    world.time.leap(HOUR);
    await visitDue(world);
    expect(world.history("a")).toEqual([`${toIso(first)} DISPATCHED`, `${toIso(plusMs(first, HOUR))} DISPATCHED`]);
    await reconciled(world);
    expect(statusOf(world)).toMatchObject({ state: "ENDED" });
  });
});

describe("a reconcile in trouble", () => {
  it("fails where the schedule cannot be read, so that its record comes again", async () => {
    const world = newWorld({
      schedules: () => ({ read: async () => [{ kind: "failed", error: new Error("throttled") }] }),
    });
    await expect(reconciled(world)).rejects.toThrow("schedule a could not be read");
  });

  it("fails where a one-shot's firing cannot be read: it may be over", async () => {
    let readable = true;
    const world = newWorld({
      occurrences: (real) => ({
        read: async (keys) =>
          readable ? real.read(keys) : keys.map(() => ({ kind: "failed", error: new Error("throttled") })),
      }),
    });
    world.put({ scheduleId: "a", at: toIso(ONE) });
    await reconciled(world, 0);
    world.time.leap(ONE - NOON);
    await visitDue(world);
    await reconciled(world);
    expect(statusOf(world)).toMatchObject({ state: "ENDED" });
    readable = false;
    await expect(reconciled(world)).rejects.toThrow("throttled");
    expect(statusOf(world)).toMatchObject({ state: "ENDED" });
  });

  it("fails where the head could not be inserted", async () => {
    const world = newWorld({
      occurrences: () => ({
        insert: async (rows) => rows.map(() => ({ kind: "failed", error: new Error("throttled") })),
      }),
    });
    world.put(hourly());
    await expect(reconciled(world)).rejects.toThrow(/could not be inserted/);
    world.put({ scheduleId: "a", at: toIso(ONE) });
    await expect(reconciled(world)).rejects.toThrow("throttled");
  });

  it("gives up after a schedule changed five times under it", async () => {
    const world = newWorld({
      schedules: () => ({ setStatus: async () => "refused" }),
    });
    world.put(hourly());
    await expect(reconciled(world)).rejects.toThrow(/changed 5 times/);
  });
});
