import { describe, expect, test } from "vitest";
import { InvalidScheduleError } from "../../../lib/core/errors.ts";
import { describeSchedule, firingsBetween, MAX_FIRINGS, nextFirings } from "../../../lib/core/firing/public.ts";

const after = new Date("2026-01-01T00:00:00Z");

function problemsThrown(call: () => unknown): readonly { path: string; message: string }[] {
  try {
    call();
  } catch (error) {
    if (error instanceof InvalidScheduleError) return error.problems;
    throw error;
  }
  return [];
}

describe("for programs", () => {
  test("dates go in and come out", () => {
    expect(nextFirings({ cron: "0 9 * * *", timezone: "Europe/Berlin" }, { after, count: 2 })).toEqual([
      new Date("2026-01-01T08:00:00Z"),
      new Date("2026-01-02T08:00:00Z"),
    ]);
    expect(firingsBetween({ rate: "1 hour" }, after, new Date("2026-01-01T03:00:00Z"), 10)).toEqual([
      new Date("2026-01-01T00:00:00Z"),
      new Date("2026-01-01T01:00:00Z"),
      new Date("2026-01-01T02:00:00Z"),
    ]);
    expect(describeSchedule({ cron: "@hourly" })).toBe("Every hour, time zone UTC");
  });

  test("the answer is the nominal instant, jitter or not", () =>
    expect(nextFirings({ scheduleId: "a", cron: "@hourly", jitterSeconds: 900 }, { after, count: 1 })).toEqual([
      new Date("2026-01-01T01:00:00Z"),
    ]));

  test("the list is shorter, or empty, when the schedule ends", () => {
    expect(nextFirings({ at: "2026-02-01T00:00:00Z" }, { after, count: 5 })).toHaveLength(1);
    expect(nextFirings({ cron: "cron(0 9 12 3 ? 2019)" }, { after, count: 5 })).toEqual([]);
    expect(nextFirings({ cron: "@daily" }, { after, count: 0 })).toEqual([]);
  });

  test("every problem is thrown, each with its path", () => {
    const definition = { scheduleId: "reports", cron: "61 * * * *", timezone: "Nowhere", jitterSeconds: -5 };
    for (const call of [
      () => nextFirings(definition, { after, count: 1 }),
      () => firingsBetween(definition, after, after, 1),
      () => describeSchedule(definition),
    ]) {
      expect(
        problemsThrown(call)
          .map(({ path }) => path)
          .sort(),
      ).toEqual(["cron", "jitterSeconds", "timezone"]);
      expect(call).toThrow(/^schedule reports is not valid: /);
    }
  });

  test("values of the wrong type are problems too", () => {
    const definition = JSON.parse('{"cron": 5, "timezone": null, "dst": {"gap": "later"}, "jitterSeconds": "1"}');
    expect(problemsThrown(() => describeSchedule(definition))).toEqual([
      { path: "cron", message: "must be text, got 5" },
      { path: "timezone", message: "must be text, got null" },
      { path: "jitterSeconds", message: 'must be a number, got "1"' },
      { path: "dst.gap", message: 'must be shift or skip, got "later"' },
    ]);
    expect(problemsThrown(() => describeSchedule(JSON.parse("null")))).toHaveLength(1);
  });

  test.each([-1, 1.5, Number.NaN, MAX_FIRINGS + 1])("a count of %d is refused", (count) =>
    expect(() => nextFirings({ cron: "@daily" }, { after, count })).toThrow(RangeError),
  );

  test("a date that is none is refused", () =>
    expect(() => nextFirings({ cron: "@daily" }, { after: new Date("x"), count: 1 })).toThrow(
      "after must be a valid date, got Invalid Date",
    ));
});
