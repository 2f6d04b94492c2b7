import { describe, expect, it } from "vitest";
import type { Execution } from "../../../lib/app/engine/run-occurrence.ts";
import { sweep } from "../../../lib/app/engine/sweep.ts";
import { discardDeadLetter, replayDeadLetter } from "../../../lib/app/manage/dead-letters.ts";
import { cancelOccurrence } from "../../../lib/app/manage/occurrences.ts";
import { pauseSchedule, resumeSchedule } from "../../../lib/app/manage/pause.ts";
import { runNow } from "../../../lib/app/manage/run-now.ts";
import type { ScheduleItem } from "../../../lib/app/ports.ts";
import { plusMs, toIso } from "../../../lib/core/instant.ts";
import { NOON } from "../../support/occurrences.ts";
import { clockTime, MINUTE, minutesAfter, SECOND, Stage, stageWith, story } from "./stage.ts";

const START = plusMs(NOON, -30 * SECOND);
const FATAL: Execution = { kind: "failed", error: { name: "Error", message: "no" }, permanent: true };
const neverAborted = new AbortController().signal;
const minutely = (given: Record<string, unknown> = {}) => ({ scheduleId: "a", rate: "1 minute", ...given });
const itemOf = (stage: Stage): ScheduleItem | undefined => stage.world.store.allSchedules()[0];

describe("a schedule that pauses itself after three dead letters in a row", () => {
  const item = minutely({ pauseAfterDeadLetters: 3 });

  async function stageOf(failing: (minute: number) => boolean, given: Record<string, unknown> = {}): Promise<Stage> {
    const stage = await stageWith({ ...item, ...given }, { start: START }, ({ scheduledFor }) =>
      failing((scheduledFor - NOON) / MINUTE) ? { ends: FATAL } : {},
    );
    stage.announcing = true;
    return stage;
  }

  it("does so at the third, with who, why and the last run on the item, a state, and an event", async () => {
    const stage = await stageOf(() => true);
    await stage.playUntil(minutesAfter(NOON, 10));
    expect(stage.ran().map(clockTime)).toEqual(["12:00", "12:01", "12:02"]);
    const note = `3 dead letters in a row, the last a@${toIso(minutesAfter(NOON, 2))}`;
    const paused = { at: toIso(minutesAfter(NOON, 2)), by: "pauseAfterDeadLetters", note };
    expect(itemOf(stage)).toMatchObject({ paused, status: { state: "PAUSED" } });
    const events = stage.world.bus.published.filter(({ detailType }) => detailType === "Schedule Paused Itself");
    expect(events).toEqual([
      {
        detailType: "Schedule Paused Itself",
        detail: { version: 1, deployment: "Test", scheduleId: "a", at: paused.at, note },
      },
    ]);
  });

  it("counts anew after one that succeeded", async () => {
    const stage = await stageOf((minute) => minute % 3 !== 2);
    await stage.playUntil(minutesAfter(NOON, 10));
    expect(itemOf(stage)?.["paused"]).toBeUndefined();
  });

  it("counts anew after it was resumed", async () => {
    const stage = await stageOf(() => true);
    await stage.playUntil(plusMs(NOON, 10 * MINUTE + SECOND));
    await resumeSchedule(stage.world.engine, "a");
    await stage.playUntil(minutesAfter(NOON, 20));
    expect(stage.ran().map(clockTime)).toEqual(["12:00", "12:01", "12:02", "12:11", "12:12", "12:13"]);
  });

  it("counts anew after its definition was changed", async () => {
    const stage = await stageOf((minute) => minute < 4);
    await stage.playUntil(plusMs(NOON, 90 * SECOND));
    await stage.edit({ ...item, payload: { mended: true } });
    await stage.playUntil(minutesAfter(NOON, 10));
    expect(itemOf(stage)?.["paused"]).toBeUndefined();
  });

  it("does not count runs by hand", async () => {
    const stage = await stageOf(() => true, { rate: "1 hour" });
    for (const key of ["1", "2", "3"]) await runNow(stage.world.engine, "a", { key });
    await stage.playUntil(plusMs(NOON, SECOND));
    expect(stage.runs).toHaveLength(4);
    expect(itemOf(stage)?.["paused"]).toBeUndefined();
  });

  it("leaves an operator's pause as it is, and never says anything of a deleted schedule", async () => {
    const stage = await stageOf((minute) => minute < 3);
    await stage.playUntil(plusMs(NOON, 61 * SECOND));
    stage.consuming = false;
    await stage.playUntil(plusMs(NOON, 121 * SECOND));
    await pauseSchedule(stage.world.engine, "a", { by: "ops" });
    stage.consuming = true;
    await stage.playUntil(minutesAfter(NOON, 3));
    expect(itemOf(stage)).toMatchObject({ paused: { by: "ops" } });
    await stage.world.engine.schedules.remove("a");
    await stage.rest();
    expect(itemOf(stage)).toBeUndefined();
  });

  it("tells the bus once more where that was lost", async () => {
    const stage = await stageOf(() => true);
    const { publish } = stage.world.bus;
    let lost = 0;
    stage.world.bus.publish = async (announcements) => {
      if (announcements[0]?.detailType !== "Schedule Paused Itself" || lost === 2) return publish(announcements);
      lost += 1;
      return announcements.map(() => ({ kind: "failed", error: new Error("throttled") }));
    };
    await stage.playUntil(minutesAfter(NOON, 5));
    expect(lost).toBe(2);
    expect(stage.world.bus.published.filter(({ detailType }) => detailType === "Schedule Paused Itself")).toHaveLength(
      1,
    );
  });
});

describe("a schedule that wants to be gone after its completion", () => {
  const once = (given: Record<string, unknown> = {}) => ({
    scheduleId: "a",
    at: toIso(NOON),
    deleteAfterCompletion: true,
    ...given,
  });
  const swept = (stage: Stage) => sweep(stage.world.engine, stage.world.bus, neverAborted);

  it("is removed as soon as its one run has finished, without a sweep, and its history stays", async () => {
    const stage = await stageWith(once(), { start: START }, () => ({ takesMs: 30 * SECOND }));
    await stage.playUntil(plusMs(NOON, 10 * SECOND));
    expect(itemOf(stage)).toMatchObject({ status: { state: "ENDED" } });
    await stage.playUntil(plusMs(NOON, 31 * SECOND));
    expect(itemOf(stage)).toBeUndefined();
    expect(story(stage.rows())).toEqual(["12:00 SUCCEEDED"]);
  });

  it("is removed once its window is over, also where an earlier run ends last", async () => {
    const item = {
      scheduleId: "a",
      rate: "1 minute",
      endAt: toIso(minutesAfter(NOON, 2)),
      timeoutSeconds: 120,
      deleteAfterCompletion: true,
    };
    const stage = await stageWith(item, { start: START }, ({ scheduledFor }) =>
      scheduledFor === minutesAfter(NOON, 1) ? { takesMs: 100 * SECOND } : {},
    );
    await stage.playUntil(minutesAfter(NOON, 2));
    expect(itemOf(stage)).toMatchObject({ status: { state: "ENDED" } });
    await stage.playUntil(minutesAfter(NOON, 3));
    expect(itemOf(stage)).toBeUndefined();
    expect(stage.ran().map(clockTime)).toEqual(["12:00", "12:01", "12:02"]);
  });

  it("is removed when its one run is cancelled before its time", async () => {
    const stage = await stageWith(once(), { start: START });
    await cancelOccurrence(stage.world.engine, stage.world.row("a", NOON));
    await stage.rest();
    expect(itemOf(stage)).toBeUndefined();
  });

  it("is removed by the sweep where the record of its run's end was lost", async () => {
    const stage = await stageWith(once(), { start: START });
    stage.reconciling = false;
    await stage.playUntil(minutesAfter(NOON, 1));
    expect(itemOf(stage)).toBeDefined();
    expect(await swept(stage)).toMatchObject({ mended: 1 });
    expect(itemOf(stage)).toBeUndefined();
  });

  it("stays while a dead letter of it is open, since somebody may want to replay it", async () => {
    const stage = await stageWith(once(), { start: START }, () => ({ ends: FATAL }));
    await stage.playUntil(minutesAfter(NOON, 1));
    await swept(stage);
    expect(itemOf(stage)).toBeDefined();
    stage.job = () => ({});
    await replayDeadLetter(stage.world.engine, stage.world.row("a", NOON));
    await stage.playUntil(minutesAfter(NOON, 2));
    expect(itemOf(stage)).toBeUndefined();
  });

  it("is removed when its dead letter is discarded", async () => {
    const stage = await stageWith(once(), { start: START }, () => ({ ends: FATAL }));
    await stage.playUntil(minutesAfter(NOON, 1));
    await discardDeadLetter(stage.world.engine, stage.world.row("a", NOON));
    await stage.rest();
    expect(itemOf(stage)).toBeUndefined();
  });

  it("is never removed where it was just put again with another time", async () => {
    const again = once({ at: toIso(minutesAfter(NOON, 30)) });
    const stage = await stageWith(once(), {
      start: START,
      // Between what was read of it and what is done about that.
      schedules: (real) => ({
        removeAsRead: async (asRead) => {
          await real.put(again, "any");
          return real.removeAsRead(asRead);
        },
      }),
    });
    await stage.playUntil(minutesAfter(NOON, 1));
    await swept(stage);
    expect(itemOf(stage)).toMatchObject(again);
    await stage.playUntil(minutesAfter(NOON, 31));
    expect(stage.ran().map(clockTime)).toEqual(["12:00", "12:30"]);
  });

  it("stays where nothing says that it wants to go", async () => {
    const stage = await stageWith(once({ deleteAfterCompletion: false }), { start: START });
    await stage.playUntil(minutesAfter(NOON, 1));
    await swept(stage);
    expect(itemOf(stage)).toMatchObject({ status: { state: "ENDED" } });
  });
});

describe("a schedule's last firing", () => {
  it("leaves an ended schedule behind also where it was cancelled, without a sweep", async () => {
    const stage = await stageWith(minutely({ endAt: toIso(plusMs(NOON, MINUTE)) }), { start: START });
    await stage.playUntil(plusMs(NOON, 30 * SECOND));
    await cancelOccurrence(stage.world.engine, stage.world.row("a", minutesAfter(NOON, 1)));
    await stage.playUntil(minutesAfter(NOON, 5));
    expect(itemOf(stage)).toMatchObject({ status: { state: "ENDED" } });
  });
});

describe("the sweep", () => {
  it("mends chains whose records were lost: a head for every schedule, and none that it does not fire", async () => {
    const stage = new Stage({ start: START });
    stage.reconciling = false;
    for (const scheduleId of ["a", "b", "c"]) stage.world.put(minutely({ scheduleId }));
    expect(await sweep(stage.world.engine, stage.world.bus, neverAborted)).toMatchObject({ schedules: 3, mended: 3 });
    await stage.playUntil(NOON);
    expect(stage.runs).toHaveLength(3);
    stage.world.put(minutely({ scheduleId: "b", rate: "1 hour" }));
    expect(await sweep(stage.world.engine, stage.world.bus, neverAborted)).toMatchObject({ mended: 1 });
    expect(stage.world.counts.get("Mended")).toBe(4);
    await stage.playUntil(minutesAfter(NOON, 5));
    expect(stage.ran("a")).toHaveLength(6);
    expect(stage.ran("b")).toHaveLength(1);
  });

  it("finds nothing to mend after an edit that left the firing times alone", async () => {
    const stage = await stageWith(minutely({ rate: "1 day" }), { start: START });
    await stage.edit(minutely({ rate: "1 day", payload: { to: "everybody" } }));
    await stage.rest();
    expect(await sweep(stage.world.engine, stage.world.bus, neverAborted)).toMatchObject({ schedules: 1, mended: 0 });
  });

  it("removes the heads of a schedule of whose deletion nobody was told", async () => {
    const stage = await stageWith(minutely({ rate: "1 day" }), { start: START, settings: { shards: 4 } });
    for (const scheduleId of ["b", "c"]) stage.world.put(minutely({ scheduleId, rate: "1 day" }));
    await stage.rest();
    stage.reconciling = false;
    await stage.world.engine.schedules.remove("b");
    expect(stage.rows("b").map(({ status }) => status)).toEqual(["PENDING"]);
    expect(await sweep(stage.world.engine, stage.world.bus, neverAborted)).toMatchObject({ schedules: 2, mended: 1 });
    expect(stage.rows("b")).toEqual([]);
    expect(["a", "c"].map((scheduleId) => stage.rows(scheduleId).length)).toEqual([1, 1]);
    expect(stage.world.counts.get("Mended")).toBe(1);
  });

  it("gives an edit whose record comes after it its due: what it saw first counts from the record", async () => {
    const stage = await stageWith({ scheduleId: "a", rate: "1 hour" }, { start: START });
    await stage.playUntil(plusMs(NOON, 50 * SECOND));
    stage.dispatching = false;
    stage.reconciling = false;
    await stage.edit(minutely());
    await stage.playUntil(plusMs(NOON, 70 * SECOND));
    await sweep(stage.world.engine, stage.world.bus, neverAborted);
    expect(itemOf(stage)).toMatchObject({ status: { provisional: true } });
    stage.reconciling = true;
    stage.dispatching = true;
    await stage.playUntil(minutesAfter(NOON, 3));
    expect(stage.ran().map(clockTime).toSorted()).toEqual(["12:00", "12:01", "12:02", "12:03"]);
    expect(itemOf(stage)?.["status"]).not.toHaveProperty("provisional");
  });

  it("starts over where nobody can read any more where the last one stopped, and says so", async () => {
    const stage = new Stage({ start: START });
    stage.reconciling = false;
    stage.world.put(minutely());
    for (const cursor of ["no cursor of any store", Buffer.from('["b"').toString("base64url")]) {
      await stage.world.engine.occurrences.writeSweepCursor(cursor);
      expect(await sweep(stage.world.engine, stage.world.bus, neverAborted)).toMatchObject({ schedules: 1 });
    }
    expect(stage.world.counts.get("StoreFailures")).toBe(2);
    expect(stage.world.logs.join()).toContain("error: where the last sweep stopped cannot be read: it starts over");
  });

  it("goes over any number of schedules a page at a time, from where the last one stopped", async () => {
    const stage = new Stage({ start: START });
    stage.reconciling = false;
    for (let index = 0; index < 1_050; index += 1)
      stage.world.put(minutely({ scheduleId: `s${index}`, rate: "1 day" }));
    let most = 0;
    let pages = 0;
    const { list } = stage.world.engine.schedules;
    const engine = {
      ...stage.world.engine,
      schedules: {
        ...stage.world.engine.schedules,
        list: async (query: Parameters<typeof list>[0]) => {
          const page = await list(query);
          most = Math.max(most, page.rows.length);
          pages += 1;
          return page;
        },
      },
    };
    const seen: number[] = [];
    for (let round = 0; round < 20; round += 1) {
      const stop = new AbortController();
      // Its time is up after three pages.
      pages = 0;
      const limited = {
        ...engine,
        schedules: {
          ...engine.schedules,
          list: async (query: Parameters<typeof list>[0]) => {
            if (pages === 2) stop.abort();
            return engine.schedules.list(query);
          },
        },
      };
      const { schedules, cursor } = await sweep(limited, stage.world.bus, stop.signal);
      seen.push(schedules);
      if (cursor === undefined) break;
    }
    expect(seen).toEqual([300, 300, 300, 150]);
    expect(most).toBe(100);
    expect(stage.world.store.allOccurrences()).toHaveLength(1_050);
    // The next one begins at the beginning.
    expect((await sweep(engine, stage.world.bus, neverAborted)).schedules).toBe(1_050);
  });
});

describe("a missed firing that is cancelled", () => {
  it("takes along none of those behind it, which it would have brought", async () => {
    const item = { scheduleId: "a", rate: "5 minutes", overlap: "wait", misfire: { policy: "all" } };
    const stage = await stageWith(item, { start: START });
    await stage.playUntil(NOON);
    stage.dispatching = false;
    await stage.playUntil(minutesAfter(NOON, 32));
    await stage.look();
    await stage.look();
    const next = stage.rows().find(({ kind }) => kind === "backfill");
    expect(next && clockTime(next.firing)).toBe("12:10");
    if (next) await cancelOccurrence(stage.world.engine, next);
    stage.dispatching = true;
    await stage.playUntil(minutesAfter(NOON, 34));
    expect(stage.ran().map(clockTime)).toEqual(["12:00", "12:05", "12:15", "12:20", "12:25", "12:30"]);
  });

  it("brings them also where it was never started in time itself", async () => {
    const item = {
      scheduleId: "a",
      rate: "5 minutes",
      overlap: "wait",
      startDeadlineSeconds: 60,
      misfire: { policy: "all" },
    };
    const stage = await stageWith(item, { start: START });
    await stage.playUntil(NOON);
    stage.dispatching = false;
    await stage.playUntil(minutesAfter(NOON, 17));
    await stage.look();
    await stage.look();
    // A second outage, longer than a run may wait for its start.
    await stage.playUntil(minutesAfter(NOON, 19));
    stage.dispatching = true;
    await stage.playUntil(minutesAfter(NOON, 20));
    expect(story(stage.rows())).toEqual([
      "12:00 SUCCEEDED",
      "12:05 SUCCEEDED",
      "12:10 DEAD_LETTERED",
      "12:15 SUCCEEDED",
      "12:20 SUCCEEDED",
      "12:25 PENDING",
    ]);
  });
});
