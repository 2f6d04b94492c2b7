import { describe, expect, test } from "vitest";
import { BoundedCache } from "../../../lib/core/firing/bounded-cache.ts";
import { nextFiring, type TimingDefinition } from "../../../lib/core/firing/index.ts";
import { nextOfCalendar } from "../../../lib/core/firing/steps.ts";
import { spanAt } from "../../../lib/core/firing/zone.ts";
import { plusMs } from "../../../lib/core/instant.ts";
import { at, timingOf } from "./build.ts";

// Speed is bounded by counting work, never by a clock: a question may look at this many stretches of a zone's time at most. A stretch
// not seen before costs about 50 questions to Intl, a tenth of a millisecond; a known one a few look-ups.
const MAX_SPANS_PER_QUESTION = 12;
/** A calendar that only ever meets gaps is given up after twenty years or so. */
const MAX_SPANS_OF_SWALLOWED = 200;

function spansLookedAt(definition: TimingDefinition, after: string): number {
  const timing = timingOf(definition);
  if (timing.kind !== "cron") throw new Error("a cron expression must be given");
  const from = timing.startAt === undefined ? at(after) : plusMs(timing.startAt, -1);
  let spans = 0;
  nextOfCalendar(timing.calendar, from, (zone, instant) => {
    spans += 1;
    return spanAt(zone, instant);
  });
  return spans;
}

describe("no question takes long", () => {
  test.each<[TimingDefinition, string]>([
    [{ cron: "0 0 29 2 *" }, "1896-02-29T00:00:00Z"],
    [{ cron: "0 0 29 2 *", timezone: "America/New_York" }, "1896-02-29T12:00:00Z"],
    [{ cron: "0 0 29 2 */7", timezone: "Europe/Berlin" }, "2072-03-01T00:00:00Z"],
    [{ cron: "* * * * * *", timezone: "Europe/Berlin", startAt: "2190-01-01T00:00:00Z" }, "2026-01-01T00:00:00Z"],
    [{ cron: "cron(0 0 1 1 ? 2199)", timezone: "Africa/Casablanca" }, "1970-01-01T00:00:00Z"],
    [{ cron: "cron(0 0 1 1 ? 1970)", timezone: "Asia/Tokyo" }, "2026-01-01T00:00:00Z"],
    [{ cron: "0 12 30W 2/2 *", timezone: "Australia/Lord_Howe" }, "2026-01-01T00:00:00Z"],
    [{ cron: "0 9 * * 1#5", timezone: "Asia/Gaza" }, "2040-01-01T00:00:00Z"],
    [{ cron: "30 2 * * *", timezone: "Antarctica/Troll" }, "2026-03-28T12:00:00Z"],
    [{ cron: "*/15 1 * * *", timezone: "America/New_York" }, "2026-11-01T05:50:00Z"],
    [{ cron: "59 23 31 12 *", timezone: "Pacific/Auckland" }, "0001-01-01T00:00:00Z"],
  ])("%j after %s", (definition, after) =>
    expect(spansLookedAt(definition, after)).toBeLessThanOrEqual(MAX_SPANS_PER_QUESTION),
  );

  test("also when every match is swallowed by a gap", () => {
    const definition = { cron: "cron(*/15 2 ? 3 SUN#2 *)", timezone: "America/New_York" };
    expect(nextFiring(timingOf(definition), at("2026-01-01T00:00:00Z"))).toBeUndefined();
    expect(spansLookedAt(definition, "2026-01-01T00:00:00Z")).toBeLessThanOrEqual(MAX_SPANS_OF_SWALLOWED);
  });

  test("and the same question is not worked out again", () => {
    const first = timingOf({ scheduleId: "a", cron: "0 9 * * *", timezone: "Europe/Paris" });
    const second = timingOf({ scheduleId: "b", cron: " 0  9 * * * ", timezone: "europe/paris", dst: { gap: "shift" } });
    if (first.kind !== "cron" || second.kind !== "cron") throw new Error("both must be cron");
    expect(second.calendar).toBe(first.calendar);
  });
});

describe("what is remembered", () => {
  test("is computed once while it is in use", () => {
    const cache = new BoundedCache<number, string>(10);
    let computed = 0;
    const get = (key: number) =>
      cache.get(key, () => {
        computed += 1;
        return `${key}`;
      });
    for (let n = 0; n < 100; n += 1) {
      expect(get(1)).toBe("1");
      expect(get(2 + (n % 2))).toBe(`${2 + (n % 2)}`);
    }
    expect(computed).toBe(3);
  });

  test("is bounded", () => {
    const cache = new BoundedCache<number, number>(10);
    for (let key = 0; key < 1000; key += 1) cache.get(key, () => key);
    expect(cache.size).toBeLessThanOrEqual(10);
  });

  test("keeps what is asked for often while others come and go", () => {
    const cache = new BoundedCache<number, number>(10);
    let computed = 0;
    for (let key = 1; key < 1000; key += 1) {
      cache.get(key, () => key);
      cache.get(0, () => {
        computed += 1;
        return 0;
      });
    }
    expect(computed).toBe(1);
  });
});
