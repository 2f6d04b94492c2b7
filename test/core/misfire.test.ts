import { describe, expect, it } from "vitest";
import { type Instant, plusMs } from "../../lib/core/instant.ts";
import { catchUpAfter, decideMisfire, isMisfire, MISFIRES_COUNTED_MAX } from "../../lib/core/misfire.ts";
import { DEFAULT_MISFIRE, type MisfirePolicy } from "../../lib/core/schedule.ts";
import { anOccurrence, NOON } from "../support/occurrences.ts";
import { scheduleOf } from "../support/schedules.ts";

const SECOND = 1_000;
const MINUTE = 60_000;
const HOUR = 3_600_000;
const DAY = 86_400_000;
const noonPlus = (ms: number): Instant => plusMs(NOON, ms);
const timing = (given: Record<string, unknown>) => scheduleOf({ scheduleId: "nightly", ...given }).timing;
const fiveMinutes = timing({ rate: "5 minutes" });
const policy = (given: Partial<MisfirePolicy> = {}): MisfirePolicy => ({ ...DEFAULT_MISFIRE, ...given });
const head = anOccurrence();
const decided = (given: Partial<MisfirePolicy>, now: Instant, of = fiveMinutes) =>
  decideMisfire(of, head, policy(given), now);

describe("a late head", () => {
  // F215
  it.each([
    [120 * SECOND - 1, false],
    [120 * SECOND, false],
    [120 * SECOND + 1, true],
  ])("that is late by %d ms is a misfire by a grace of two minutes: %s", (lateMs, expected) => {
    expect(isMisfire(head, policy(), noonPlus(lateMs))).toBe(expected);
  });

  it("is judged by when it fell due, jitter included, and not by its nominal instant", () => {
    expect(isMisfire({ dueAt: noonPlus(MINUTE) }, policy({ graceSeconds: 0 }), noonPlus(MINUTE))).toBe(false);
  });

  it("with no grace at all is one a millisecond later", () => {
    expect(isMisfire(head, policy({ graceSeconds: 0 }), NOON)).toBe(false);
    expect(isMisfire(head, policy({ graceSeconds: 0 }), noonPlus(1))).toBe(true);
  });

  it("that the index shows without a due time is none", () => {
    expect(isMisfire({}, policy(), noonPlus(DAY))).toBe(false);
  });
});

describe("what is decided about missed firings", () => {
  const at42 = noonPlus(42 * MINUTE);

  it.each([
    ["coalesce", {}, { policy: "coalesce", count: 9, from: NOON, to: noonPlus(40 * MINUTE) }],
    ["all", {}, { policy: "all", count: 9, from: NOON, to: noonPlus(40 * MINUTE) }],
    ["skip, with 12:40 within its grace", {}, { policy: "skip", count: 8, from: NOON, to: noonPlus(35 * MINUTE) }],
    ["skip, with little grace", { graceSeconds: 30 }, { policy: "skip", count: 9, to: noonPlus(40 * MINUTE) }],
    [
      "all, in a window of twenty minutes",
      { catchupWindowSeconds: 1_200 },
      { policy: "all", count: 4, from: noonPlus(25 * MINUTE) },
    ],
    [
      "all, with the window's edge on a firing",
      { catchupWindowSeconds: 1_320 },
      { policy: "all", count: 5, from: noonPlus(20 * MINUTE) },
    ],
    [
      "all, in a window that holds none",
      { catchupWindowSeconds: 60 },
      { policy: "skip", count: 9, from: NOON, to: noonPlus(40 * MINUTE) },
    ],
    ["all, in a window of zero (F223)", { catchupWindowSeconds: 0 }, { policy: "skip", count: 9 }],
  ] as const)("at 12:42 under %s", (name, given, expected) => {
    const named = name.startsWith("coalesce") ? "coalesce" : name.startsWith("skip") ? "skip" : "all";
    expect(decided({ policy: named, ...given }, at42)).toMatchObject({ more: false, ...expected });
  });

  it("stops at the schedule's end", () => {
    const ended = timing({ rate: "5 minutes", endAt: "2026-11-29T12:12:00Z" });
    expect(decided({}, at42, ended)).toMatchObject({ count: 3, to: noonPlus(10 * MINUTE) });
  });

  it("stands for the head alone where nothing else was missed", () => {
    const weekly = timing({ cron: "0 12 * * SUN" });
    expect(decided({}, noonPlus(2 * DAY), weekly)).toMatchObject({ count: 1, from: NOON, to: NOON });
    expect(decided({ policy: "skip" }, noonPlus(2 * DAY), weekly)).toMatchObject({ count: 1, from: NOON, to: NOON });
  });

  it("goes no further than it is told: new times missed nothing before they were written", () => {
    expect(decideMisfire(fiveMinutes, head, policy({ policy: "all" }), at42, NOON)).toMatchObject({
      policy: "all",
      count: 1,
      from: NOON,
      to: NOON,
    });
    expect(
      decideMisfire(fiveMinutes, head, policy({ policy: "all", catchupWindowSeconds: 60 }), at42, NOON),
    ).toMatchObject({
      policy: "skip",
      count: 1,
    });
  });

  it("leaves out a firing whose share of the jitter has still to pass", () => {
    const jittered = timing({ rate: "5 minutes", jitterSeconds: 240 });
    for (let second = 0; second < 300; second += 7) {
      const now = noonPlus(40 * MINUTE + second * SECOND);
      const { to } = decided({ policy: "coalesce" }, now, jittered);
      const { firings } = catchUpAfter(
        jittered,
        { policy: "all", count: 0, more: false, from: NOON, to: now },
        NOON,
        100,
      );
      const due = firings.filter(({ dueAt }) => dueAt <= now).map(({ scheduledFor }) => scheduledFor);
      expect(to).toBe(due.at(-1));
    }
  });

  it.each([
    ["every second, by rate", { rate: "1 second" }],
    ["every second, by cron", { cron: "* * * * * *" }],
  ])("counts up to its bound, whatever the outage: %s", (_, given) => {
    expect(decided({}, noonPlus(3 * DAY), timing(given))).toMatchObject({
      count: MISFIRES_COUNTED_MAX,
      more: true,
      to: noonPlus(3 * DAY),
    });
  });

  it.each([
    ["a day of 23 hours", "2026-03-28T23:00:00Z", 23],
    ["a day of 25 hours", "2026-10-24T22:00:00Z", 25],
  ])("counts the hours of a day in Berlin: %s", (_, midnight, hours) => {
    const start = noonPlus(Date.parse(midnight) - NOON);
    const hourly = timing({ cron: "0 * * * *", timezone: "Europe/Berlin" });
    const row = anOccurrence({ scheduledFor: start });
    const decision = decideMisfire(hourly, row, policy(), plusMs(start, hours * HOUR - 1));
    expect(decision).toMatchObject({ count: hours, to: plusMs(start, (hours - 1) * HOUR) });
  });
});

describe("what is caught up with", () => {
  const decision = {
    policy: "all",
    count: 9,
    more: false,
    from: noonPlus(10 * MINUTE),
    to: noonPlus(40 * MINUTE),
  } as const;
  const minutes = (instant: Instant, limit: number) => {
    const { firings, more } = catchUpAfter(fiveMinutes, decision, instant, limit);
    return { minutes: firings.map(({ scheduledFor }) => (scheduledFor - NOON) / MINUTE), more };
  };

  it("begins at the decision's first firing and ends at its last", () => {
    expect(minutes(NOON, 100)).toEqual({ minutes: [10, 15, 20, 25, 30, 35, 40], more: false });
  });

  it("goes on behind the row that brings it, a bounded number at a time", () => {
    expect(minutes(noonPlus(15 * MINUTE), 3)).toEqual({ minutes: [20, 25, 30], more: true });
    expect(minutes(noonPlus(30 * MINUTE), 3)).toEqual({ minutes: [35, 40], more: false });
    expect(minutes(noonPlus(30 * MINUTE), 2)).toEqual({ minutes: [35, 40], more: false });
  });

  it("is nothing behind the last one", () => {
    expect(minutes(noonPlus(40 * MINUTE), 3)).toEqual({ minutes: [], more: false });
  });
});
