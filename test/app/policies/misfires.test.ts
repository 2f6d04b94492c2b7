import { describe, expect, it } from "vitest";
import { plusMs, toIso } from "../../../lib/core/instant.ts";
import { NOON } from "../../support/occurrences.ts";
import { clockTime, DAY, HOUR, MINUTE, minutesAfter, SECOND, type Stage, stageWith, story } from "./stage.ts";

const START = plusMs(NOON, -2 * MINUTE);
const fiveMinutes = (given: Record<string, unknown> = {}) => ({ scheduleId: "a", rate: "5 minutes", ...given });

/** A stage whose dispatchers fell silent right after 12:00 had run, and came back at 12:42. */
async function afterOutage(given: Record<string, unknown> = {}): Promise<Stage> {
  const stage = await stageWith(fiveMinutes(given), { start: START });
  await stage.playUntil(NOON);
  stage.dispatching = false;
  await stage.playUntil(minutesAfter(NOON, 42));
  stage.dispatching = true;
  return stage;
}

const EIGHT = { count: 8, more: false, from: minutesAfter(NOON, 5), to: minutesAfter(NOON, 40) };

describe("an outage of forty minutes, in which a five-minute schedule misses eight firings", () => {
  it("costs one run under coalesce: the latest stands for all, and says so (F217, F233, F236)", async () => {
    const stage = await afterOutage();
    await stage.playUntil(minutesAfter(NOON, 46));
    expect(story(stage.rows())).toEqual([
      "12:00 SUCCEEDED",
      "12:05 SKIPPED:misfire",
      "12:40 SUCCEEDED",
      "12:45 SUCCEEDED",
      "12:50 PENDING",
    ]);
    const decision = { policy: "coalesce", ...EIGHT };
    expect(stage.world.row("a", minutesAfter(NOON, 5)).misfire).toEqual(decision);
    expect(stage.world.row("a", minutesAfter(NOON, 40)).misfire).toEqual(decision);
  });

  it("is caught up with under all, oldest first, each firing as its own run", async () => {
    const stage = await afterOutage({ misfire: { policy: "all" } });
    await stage.playUntil(minutesAfter(NOON, 46));
    expect(stage.ran().map(clockTime)).toEqual([
      "12:00",
      "12:05",
      "12:10",
      "12:15",
      "12:20",
      "12:25",
      "12:30",
      "12:35",
      "12:40",
      "12:45",
    ]);
    expect(stage.world.row("a", minutesAfter(NOON, 5))).toMatchObject({
      kind: "scheduled",
      misfire: { policy: "all", ...EIGHT },
    });
    expect(stage.world.row("a", minutesAfter(NOON, 10)).kind).toBe("backfill");
  });

  it("is passed over under skip: no late run, one row with the range (F214, F230)", async () => {
    const stage = await afterOutage({ misfire: { policy: "skip" } });
    await stage.playUntil(minutesAfter(NOON, 46));
    // 12:40 is two minutes late, which is within its grace.
    expect(story(stage.rows())).toEqual([
      "12:00 SUCCEEDED",
      "12:05 SKIPPED:misfire",
      "12:40 SUCCEEDED",
      "12:45 SUCCEEDED",
      "12:50 PENDING",
    ]);
    expect(stage.world.row("a", minutesAfter(NOON, 5)).misfire).toEqual({
      policy: "skip",
      count: 7,
      more: false,
      from: minutesAfter(NOON, 5),
      to: minutesAfter(NOON, 35),
    });
    expect(stage.world.row("a", minutesAfter(NOON, 40)).misfire).toBeUndefined();
  });

  it("skips all eight where nothing is within its grace", async () => {
    const stage = await afterOutage({ misfire: { policy: "skip", graceSeconds: 30 } });
    await stage.playUntil(minutesAfter(NOON, 46));
    expect(stage.world.row("a", minutesAfter(NOON, 5)).misfire).toEqual({ policy: "skip", ...EIGHT });
    expect(stage.ran().map(clockTime)).toEqual(["12:00", "12:45"]);
  });

  it("starts what `all` reaches at the window's edge, and drops what lies before it", async () => {
    const stage = await afterOutage({ misfire: { policy: "all", catchupWindowSeconds: 1200 } });
    await stage.playUntil(minutesAfter(NOON, 46));
    // 12:42 less twenty minutes.
    expect(stage.ran().map(clockTime)).toEqual(["12:00", "12:25", "12:30", "12:35", "12:40", "12:45"]);
    expect(story(stage.rows())[1]).toBe("12:05 SKIPPED:misfire");
    expect(stage.world.row("a", minutesAfter(NOON, 5)).misfire).toMatchObject({
      policy: "all",
      count: 4,
      from: minutesAfter(NOON, 25),
    });
  });

  it("leaves nothing to catch up with in a window of zero: then `all` skips (F223)", async () => {
    const stage = await afterOutage({ misfire: { policy: "all", catchupWindowSeconds: 0 } });
    await stage.playUntil(minutesAfter(NOON, 46));
    expect(stage.ran().map(clockTime)).toEqual(["12:00", "12:45"]);
    expect(stage.world.row("a", minutesAfter(NOON, 5)).misfire).toMatchObject({ policy: "skip", count: 8 });
  });
});

describe("lateness within a schedule's grace", () => {
  // F215: one grace, the author's own.
  it.each([
    ["a second less than its grace", 29, "SUCCEEDED", undefined],
    ["its grace to the second", 30, "SUCCEEDED", undefined],
    ["a second more than its grace", 31, "SKIPPED", "misfire"],
  ])("is no misfire: late by %s", async (_, lateSeconds, status, reason) => {
    const misfire = { policy: "skip", graceSeconds: 30 };
    const stage = await stageWith(fiveMinutes({ misfire }), { start: START });
    await stage.playUntil(plusMs(NOON, -1));
    stage.dispatching = false;
    await stage.playUntil(plusMs(NOON, lateSeconds * SECOND));
    stage.dispatching = true;
    await stage.rest();
    expect(stage.world.row("a", NOON)).toMatchObject({ status });
    expect(stage.world.row("a", NOON).skipReason).toBe(reason);
  });

  it("lets no firing run late that missed its grace, of many within one outage (F214)", async () => {
    const misfire = { policy: "skip", graceSeconds: 5 };
    const stage = await stageWith({ scheduleId: "a", rate: "15 seconds", misfire }, { start: START });
    await stage.playUntil(NOON);
    stage.dispatching = false;
    await stage.playUntil(plusMs(NOON, 67 * SECOND));
    stage.dispatching = true;
    await stage.rest();
    expect(stage.runs.filter(({ from, firing }) => from - Date.parse(firing) > 5 * SECOND)).toEqual([]);
    expect(stage.world.row("a", plusMs(NOON, 15 * SECOND)).misfire).toMatchObject({ count: 4 });
  });
});

describe("an outage of two days", () => {
  it.each([
    ["a weekly run", { cron: "0 9 * * MON" }, "2026-11-30T09:00:00.000Z"],
    ["a one-shot", { at: "2026-11-30T09:00:00" }, "2026-11-30T09:00:00.000Z"],
    ["a yearly run that never ran before (F218)", { cron: "0 9 30 11 *" }, "2026-11-30T09:00:00.000Z"],
  ])("still lets %s run under coalesce, once", async (_, timing, firing) => {
    const stage = await stageWith({ scheduleId: "a", ...timing }, { start: START });
    stage.dispatching = false;
    await stage.playUntil(plusMs(NOON, 2 * DAY));
    stage.dispatching = true;
    await stage.playUntil(plusMs(NOON, 2 * DAY + HOUR));
    expect(stage.ran()).toEqual([firing]);
  });

  it("lets a daily job run once, and once a day from then on (F184, F209)", async () => {
    const stage = await stageWith({ scheduleId: "a", cron: "0 13 * * *" }, { start: START });
    await stage.playUntil(plusMs(NOON, HOUR));
    stage.dispatching = false;
    await stage.playUntil(plusMs(NOON, 3 * DAY));
    stage.dispatching = true;
    await stage.playUntil(plusMs(NOON, 5 * DAY));
    expect(stage.ran().map((firing) => firing.slice(0, 10))).toEqual([
      "2026-11-29",
      "2026-12-01",
      "2026-12-02",
      "2026-12-03",
    ]);
  });
});

describe("days on which the clocks change", () => {
  // In Berlin the hour from 02:00 is missing on 2026-03-29 and comes twice on 2026-10-25.
  it.each([
    ["a wildcard in a day of 23 hours", "*/30 * * * *", "2026-03-28T23:00:00Z", 46],
    ["a wildcard in a day of 25 hours", "*/30 * * * *", "2026-10-24T22:00:00Z", 50],
    ["a fixed time in the gap, once", "30 2 * * *", "2026-03-28T23:00:00Z", 1],
    ["a fixed time that comes twice, once", "30 2 * * *", "2026-10-24T22:00:00Z", 1],
  ])("count right: %s", async (_, cron, midnight, count) => {
    const start = plusMs(NOON, Date.parse(midnight) - NOON);
    const hours = cron === "30 2 * * *" ? 25 : count / 2;
    const item = { scheduleId: "a", cron, timezone: "Europe/Berlin" };
    const stage = await stageWith(item, { start: plusMs(start, -1) });
    stage.dispatching = false;
    await stage.playUntil(plusMs(start, hours * HOUR - 1));
    stage.dispatching = true;
    await stage.rest();
    const decided = stage.rows().find(({ misfire }) => misfire !== undefined);
    expect(decided?.misfire).toMatchObject({ count, more: false });
    expect(stage.runs).toHaveLength(1);
  });
});

describe("jitter", () => {
  it("counts in nominal instants, and takes no firing for missed that is not due yet", async () => {
    const stage = await stageWith(fiveMinutes({ jitterSeconds: 240 }), { start: START });
    await stage.playUntil(NOON);
    const first = stage.rows()[0];
    expect(first?.dueAt).toBeGreaterThan(NOON);
    stage.dispatching = false;
    await stage.playUntil(minutesAfter(NOON, 40));
    stage.dispatching = true;
    await stage.rest();
    // 12:40's own share of the jitter has still to pass.
    expect(first && stage.world.row("a", first.firing).misfire).toMatchObject({ count: 8, to: minutesAfter(NOON, 35) });
    const head = stage.world.row("a", minutesAfter(NOON, 40));
    expect(head).toMatchObject({ status: "PENDING" });
    expect(head.dueAt).toBeGreaterThan(minutesAfter(NOON, 40));
  });
});

describe("what is missed beside an edit", () => {
  it("keeps its misfires where only the payload changed during the outage", async () => {
    const stage = await stageWith(fiveMinutes({ misfire: { policy: "all" } }), { start: START });
    await stage.playUntil(NOON);
    stage.dispatching = false;
    await stage.playUntil(minutesAfter(NOON, 22));
    await stage.edit(fiveMinutes({ misfire: { policy: "all" }, payload: { v: 2 } }));
    await stage.playUntil(minutesAfter(NOON, 42));
    stage.dispatching = true;
    await stage.playUntil(minutesAfter(NOON, 44));
    // The edit began a second chain, which met the first: each firing ran once.
    expect(stage.ran().map(clockTime).toSorted()).toEqual([
      "12:00",
      "12:05",
      "12:10",
      "12:15",
      "12:20",
      "12:25",
      "12:30",
      "12:35",
      "12:40",
    ]);
    expect(
      stage
        .rows()
        .filter(({ status }) => status === "SUCCEEDED")
        .at(-1)?.payload,
    ).toBe('{"v":2}');
  });

  it("owes nothing that new times would have fired before they were written (F206)", async () => {
    const stage = await stageWith(fiveMinutes({ misfire: { policy: "all" } }), { start: START });
    await stage.playUntil(NOON);
    stage.dispatching = false;
    await stage.playUntil(plusMs(NOON, 22 * MINUTE + 30 * SECOND));
    await stage.edit(fiveMinutes({ rate: "1 minute", misfire: { policy: "all" } }));
    await stage.playUntil(minutesAfter(NOON, 25));
    stage.dispatching = true;
    await stage.rest();
    // 12:05 was due by both definitions; from 12:22:30 the new one counts.
    expect(stage.ran().map(clockTime).toSorted()).toEqual(["12:00", "12:05", "12:23", "12:24", "12:25"]);
  });

  it("does not turn the rest of a catch-up into the firings of new times", async () => {
    const second = { scheduleId: "a", rate: "10 minutes", misfire: { policy: "all" } };
    const stage = await stageWith(second, { start: START });
    await stage.playUntil(NOON);
    stage.dispatching = false;
    await stage.playUntil(plusMs(NOON, 20 * HOUR));
    stage.dispatching = true;
    // The decision, then the first hundred.
    await stage.look();
    await stage.look();
    const caughtUp = stage.rows().filter(({ kind }) => kind === "backfill").length;
    expect(caughtUp).toBe(100);
    await stage.edit({ ...second, rate: "1 second" });
    await stage.playUntil(plusMs(NOON, 20 * HOUR + 5 * SECOND));
    expect(stage.rows().filter(({ kind }) => kind === "backfill")).toHaveLength(caughtUp);
  });
});

describe("a stopped schedule after an outage of three days", () => {
  const secondly = { scheduleId: "a", rate: "1 second" };
  const far = plusMs(NOON, 3 * DAY);

  it.each([
    ["paused", { paused: { at: toIso(plusMs(NOON, DAY)) } }],
    ["disabled", { enabled: false }],
    ["paused", { resumedAt: toIso(plusMs(far, -SECOND)) }],
  ])("passes over one row, not a quarter of a million: %s", async (reason, given) => {
    const stage = await stageWith(secondly, { start: START });
    await stage.playUntil(NOON);
    stage.dispatching = false;
    await stage.playUntil(plusMs(NOON, DAY));
    stage.world.put({ ...secondly, ...given });
    await stage.playUntil(far);
    stage.dispatching = true;
    await stage.rest();
    expect(stage.rows().filter(({ status }) => status === "SKIPPED")).toMatchObject([{ skipReason: reason }]);
  });
});
