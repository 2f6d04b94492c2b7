import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  countFirings,
  firesAt,
  firingsBetween,
  HORIZON,
  latestFiring,
  nextFiring,
  type Timing,
  type TimingDefinition,
} from "../../../lib/core/firing/index.ts";
import { type Instant, instant, plusMs } from "../../../lib/core/instant.ts";
import { at, isoOf, timingOf } from "./build.ts";

const definitions: readonly TimingDefinition[] = [
  { cron: "*/20 * * * *", timezone: "Europe/Berlin" },
  { cron: "30 1,2 * * *", timezone: "America/New_York" },
  { cron: "30 1,2 * * *", timezone: "America/New_York", dst: { repeated: "both", gap: "shift" } },
  { cron: "*/7 59 23 L * *", timezone: "Pacific/Kiritimati" },
  { cron: "0 12 29 2 *", timezone: "Asia/Kathmandu" },
  {
    cron: "0 9 * * *",
    timezone: "Australia/Lord_Howe",
    startAt: "2026-02-01T00:00:00Z",
    endAt: "2026-11-01T00:00:00Z",
  },
  { rate: "37 minutes" },
  { rate: "11 hours", startAt: "2026-02-01T00:00:00Z", endAt: "2026-06-01T00:00:00Z" },
  { at: "2026-11-01T01:30:00", timezone: "America/New_York", dst: { repeated: "both" } },
];
const timings = fc.constantFrom(...definitions);
const YEAR_START = at("2026-01-01T00:00:00Z");
const instants = fc.integer({ min: 0, max: 400 * 86_400_000 }).map((ms) => plusMs(YEAR_START, ms));

/** Every firing in `(after, upTo]`, by asking for the next one again and again. */
function stepped(timing: Timing, after: Instant, upTo: Instant, limit: number): Instant[] {
  const found: Instant[] = [];
  let cursor = after;
  while (found.length < limit) {
    const next = nextFiring(timing, cursor);
    if (next === undefined || next.scheduledFor > upTo) break;
    found.push(next.scheduledFor);
    cursor = next.scheduledFor;
  }
  return found;
}

describe("the next firing", () => {
  test("is strictly later than the instant asked about, and fires at its own instant", () => {
    fc.assert(
      fc.property(timings, instants, (definition, after) => {
        const timing = timingOf(definition);
        const next = nextFiring(timing, after);
        if (next === undefined) return;
        expect(next.scheduledFor).toBeGreaterThan(after);
        expect(firesAt(timing, next.scheduledFor)).toEqual(next);
        expect(nextFiring(timing, plusMs(next.scheduledFor, -1))).toEqual(next);
        if (next.scheduledFor - after > 1) expect(firesAt(timing, plusMs(next.scheduledFor, -1))).toBeUndefined();
      }),
    );
  });

  test("lies within the window, both ends included", () => {
    const timing = timingOf({ cron: "0 0 * * *", startAt: "2026-01-02T00:00:00Z", endAt: "2026-01-04T00:00:00Z" });
    expect(isoOf(firingsBetween(timing, at("2025-01-01T00:00:00Z"), at("2027-01-01T00:00:00Z"), 99))).toEqual([
      "2026-01-02T00:00:00.000Z",
      "2026-01-03T00:00:00.000Z",
      "2026-01-04T00:00:00.000Z",
    ]);
  });

  test("does not exist once the window is over", () =>
    expect(nextFiring(timingOf({ cron: "@daily", endAt: "1999-01-01T00:00:00Z" }), YEAR_START)).toBeUndefined());

  test.each([{ cron: "* * * * * *" }, { rate: "1 second" }, { cron: "0 0 * * *", timezone: "Europe/Berlin" }])(
    "does not exist beyond the horizon: %j",
    (definition) => {
      const timing = timingOf(definition);
      const last = latestFiring(timing, plusMs(HORIZON, -3 * 86_400_000), HORIZON);
      expect(last?.scheduledFor).toBeLessThan(HORIZON);
      expect(nextFiring(timing, instant(last?.scheduledFor ?? 0))).toBeUndefined();
      expect(nextFiring(timing, instant(8.64e15))).toBeUndefined();
    },
  );

  test("is found from as early as a date can be", () => {
    expect(nextFiring(timingOf({ cron: "0 0 * * *" }), instant(-8.64e15))?.scheduledFor).toBe(
      at("0001-01-01T00:00:00Z"),
    );
    expect(nextFiring(timingOf({ rate: "1 day" }), instant(-8.64e15 + 1))).toBeDefined();
  });
});

describe("the firings of a range", () => {
  test("are those of [from, to), whatever way they are asked for", () => {
    fc.assert(
      fc.property(timings, instants, fc.nat({ max: 3 * 86_400_000 }), (definition, from, lengthMs) => {
        const timing = timingOf(definition);
        const to = plusMs(from, lengthMs);
        const after = plusMs(from, -1);
        const upTo = plusMs(to, -1);
        const all = stepped(timing, after, upTo, 1000);
        expect(firingsBetween(timing, from, to, 1000).map((firing) => firing.scheduledFor)).toEqual(all);
        expect(firingsBetween(timing, from, to, 2)).toHaveLength(Math.min(2, all.length));
        expect(latestFiring(timing, after, upTo)?.scheduledFor).toBe(all.at(-1));
        expect(countFirings(timing, after, upTo, 1000)).toEqual({ count: all.length, more: false });
        expect(countFirings(timing, after, upTo, 3)).toEqual({ count: Math.min(3, all.length), more: all.length > 3 });
      }),
      { numRuns: 150 },
    );
  });

  test("include the latest of a long outage without stepping through it", () => {
    const timing = timingOf({ cron: "* * * * * *" });
    expect(latestFiring(timing, at("1990-01-01T00:00:00Z"), at("2026-01-01T00:00:00.500Z"))?.scheduledFor).toBe(
      YEAR_START,
    );
    const rare = timingOf({ cron: "0 0 29 2 *" });
    expect(latestFiring(rare, at("1990-01-01T00:00:00Z"), YEAR_START)?.scheduledFor).toBe(at("2024-02-29T00:00:00Z"));
    expect(latestFiring(rare, at("2024-02-29T00:00:00Z"), YEAR_START)).toBeUndefined();
  });

  test("are counted to the limit and no further", () => {
    const from = at("2025-01-01T00:00:00Z");
    expect(countFirings(timingOf({ cron: "* * * * * *" }), from, YEAR_START, 10_000)).toEqual({
      count: 10_000,
      more: true,
    });
    expect(countFirings(timingOf({ rate: "1 second" }), from, YEAR_START, 1e9)).toEqual({
      count: 365 * 86_400,
      more: false,
    });
    expect(countFirings(timingOf({ rate: "1 second" }), YEAR_START, from, 10)).toEqual({ count: 0, more: false });
  });
});

describe("jitter", () => {
  const jittered = fc.record({
    definition: fc.constantFrom<TimingDefinition>(
      { cron: "*/5 * * * *" },
      { cron: "0,1,30 * * * *", timezone: "Europe/Berlin" },
      { cron: "* * * * * *" },
      { rate: "90 seconds" },
      { cron: "0 9 * * *", timezone: "America/New_York" },
    ),
    jitterSeconds: fc.integer({ min: 1, max: 86_400 }),
    scheduleId: fc.stringMatching(/^[a-z]{1,12}$/),
  });

  test("never reorders a schedule's firings, never reaches the next one, and stays within its seconds", () => {
    fc.assert(
      fc.property(jittered, instants, ({ definition, jitterSeconds, scheduleId }, from) => {
        const timing = timingOf({ ...definition, jitterSeconds, scheduleId });
        const firings = firingsBetween(timing, from, plusMs(from, 3 * 86_400_000), 30);
        for (const [index, { scheduledFor, dueAt }] of firings.entries()) {
          expect(dueAt).toBeGreaterThanOrEqual(scheduledFor);
          expect(dueAt).toBeLessThanOrEqual(scheduledFor + jitterSeconds * 1000);
          expect(dueAt).toBeLessThan(firings[index + 1]?.scheduledFor ?? Number.POSITIVE_INFINITY);
        }
      }),
    );
  });

  test("is the same at every question, leaves the nominal instant alone, and differs between schedules", () => {
    const dueAt = (scheduleId: string) =>
      nextFiring(timingOf({ cron: "@hourly", scheduleId, jitterSeconds: 600 }), YEAR_START);
    expect(dueAt("a")).toEqual(dueAt("a"));
    expect(dueAt("a")?.scheduledFor).toBe(at("2026-01-01T01:00:00Z"));
    const due = Array.from(
      { length: 200 },
      (_, n) => (dueAt(`schedule-${n}`)?.dueAt ?? 0) - at("2026-01-01T01:00:00Z"),
    );
    expect(new Set(due).size).toBeGreaterThan(190);
    expect(Math.min(...due)).toBeLessThan(60_000);
    expect(Math.max(...due)).toBeGreaterThan(540_000);
  });
});
