import { describe, expect, test } from "vitest";
import { firesAt, firingsBetween, latestFiring, nextFiring } from "../../../lib/core/firing/index.ts";
import { at, isoOf, problemsOf, timingOf } from "./build.ts";

describe("rate", () => {
  test.each(["5 minutes", "rate(5 minutes)", "RATE( 5 minutes )", "PT5M", "300 seconds", "PT300S", " 5  Minutes "])(
    "%s is every five minutes, counted from the epoch",
    (rate) =>
      expect(nextFiring(timingOf({ rate }), at("2026-01-01T00:00:01Z"))?.scheduledFor).toBe(at("2026-01-01T00:05:00Z")),
  );

  test.each([
    ["1 second", "2026-01-01T00:00:01Z"],
    ["1 day", "2026-01-02T00:00:00Z"],
    ["P1D", "2026-01-02T00:00:00Z"],
    ["P1DT12H", "2026-01-02T12:00:00Z"],
    ["PT1H30M", "2026-01-01T01:30:00Z"],
  ])("%s next fires at %s", (rate, next) =>
    expect(nextFiring(timingOf({ rate }), at("2026-01-01T00:00:00Z"))?.scheduledFor).toBe(at(next)),
  );

  test.each([
    ["1 month", "months and years differ in length: use cron"],
    ["P1M", "months and years differ in length: use cron"],
    ["P1Y", "months and years differ in length: use cron"],
    ["PT0.5S", 'must be an interval such as "5 minutes"'],
    ["1.5 hours", 'must be an interval such as "5 minutes"'],
    ["5", 'got "5"'],
    ["minutes", 'got "minutes"'],
    ["-5 minutes", 'got "-5 minutes"'],
    ["P", 'got "P"'],
    ["P1DT", 'got "P1DT"'],
    ["", 'got ""'],
    ["0 seconds", 'must be 1 second to 36500 days, got "0 seconds"'],
    ["36501 days", 'must be 1 second to 36500 days, got "36501 days"'],
    ["999999999999 days", "must be 1 second to 36500 days"],
  ])("%s is refused", (rate, message) => {
    expect(problemsOf({ rate })).toEqual([expect.stringContaining(message)]);
    expect(problemsOf({ rate })[0]).toMatch(/^rate: must be /);
  });

  test("counts from startAt, itself the first firing, and does not drift", () => {
    const timing = timingOf({ rate: "7 hours", startAt: "2026-03-01T00:10:00Z" });
    const firings = firingsBetween(timing, at("2020-01-01T00:00:00Z"), at("2030-01-01T00:00:00Z"), 1000);
    expect(firings[0]?.scheduledFor).toBe(at("2026-03-01T00:10:00Z"));
    for (const [index, { scheduledFor }] of firings.entries())
      expect(scheduledFor).toBe(at("2026-03-01T00:10:00Z") + index * 7 * 3_600_000);
  });

  test("knows no calendar: a day is 24 hours across a change of the clocks", () => {
    const timing = timingOf({ rate: "1 day", startAt: "2026-03-07T14:00:00Z", timezone: "America/New_York" });
    expect(isoOf(firingsBetween(timing, at("2026-03-07T00:00:00Z"), at("2026-03-10T00:00:00Z"), 9))).toEqual([
      "2026-03-07T14:00:00.000Z",
      "2026-03-08T14:00:00.000Z",
      "2026-03-09T14:00:00.000Z",
    ]);
  });

  test("fires before 1970 too", () =>
    expect(nextFiring(timingOf({ rate: "1 hour" }), at("1969-12-31T22:30:00Z"))?.scheduledFor).toBe(
      at("1969-12-31T23:00:00Z"),
    ));
});

describe("at", () => {
  const newYork = "America/New_York";

  test.each([
    ["2026-11-29T09:00:00Z", "2026-11-29T09:00:00Z"],
    ["at(2026-11-29T09:00:00)", "2026-11-29T14:00:00Z"],
    ["2026-11-29T09:00", "2026-11-29T14:00:00Z"],
    ["2026-11-29T09:00:00.250+05:30", "2026-11-29T03:30:00.250Z"],
    ["2026-11-29T09:00:00-08:00", "2026-11-29T17:00:00Z"],
    ["2026-03-08T02:30:00", "2026-03-08T07:00:00Z"],
    ["2026-11-01T01:30:00", "2026-11-01T05:30:00Z"],
  ])("%s in New York fires at %s, once", (text, instant) => {
    const timing = timingOf({ at: text, timezone: newYork });
    const firing = nextFiring(timing, at("2000-01-01T00:00:00Z"));
    expect(firing?.scheduledFor).toBe(at(instant));
    expect(nextFiring(timing, at(instant))).toBeUndefined();
    expect(firesAt(timing, at(instant))).toEqual(firing);
    expect(latestFiring(timing, at("2000-01-01T00:00:00Z"), at("2027-01-01T00:00:00Z"))).toEqual(firing);
  });

  test("a repeated local time follows the policy", () => {
    const timing = timingOf({ at: "2026-11-01T01:30:00", timezone: newYork, dst: { repeated: "second" } });
    expect(nextFiring(timing, at("2026-01-01T00:00:00Z"))).toMatchObject({
      scheduledFor: at("2026-11-01T06:30:00Z"),
      resolved: "repeated",
    });
    const both = timingOf({ at: "2026-11-01T01:30:00", timezone: newYork, dst: { repeated: "both" } });
    expect(isoOf(firingsBetween(both, at("2026-01-01T00:00:00Z"), at("2027-01-01T00:00:00Z"), 9))).toEqual([
      "2026-11-01T05:30:00.000Z",
      "2026-11-01T06:30:00.000Z",
    ]);
  });

  test.each([
    [{ at: "2026-03-08T02:30:00", timezone: newYork, dst: { gap: "skip" as const } }],
    [{ at: "2011-12-30T12:00:00", timezone: "Pacific/Apia" }],
  ])("a local time that never comes is refused: %j", (definition) =>
    expect(problemsOf(definition)).toEqual([
      `at: must be a time that the clocks of ${definition.timezone} show (its gap is not shifted), got "${definition.at}"`,
    ]),
  );

  test.each([
    "2026-11-29",
    "2026-02-30T00:00:00",
    "2026-13-01T00:00:00",
    "2026-11-29T24:00:00",
    "2026-11-29T09:60:00",
    "2026-11-29T09:00:60Z",
    "2026-11-29 09:00:00",
    "2026-11-29T09:00:00+25:00",
    "2026-11-29T09:00:00+05:75",
    "tomorrow",
    "",
    "at()",
  ])("%j is refused", (text) =>
    expect(problemsOf({ at: text })).toEqual([expect.stringMatching(/^at: must be an ISO date-time such as/)]),
  );

  test("beyond the horizon is refused", () =>
    expect(problemsOf({ at: "2200-01-01T00:00:00Z" })).toEqual([
      'at: must be in the years 1 to 2199, got "2200-01-01T00:00:00Z"',
    ]));
});

describe("a definition", () => {
  test("has exactly one of cron, rate and at", () => {
    expect(problemsOf({})).toEqual([": exactly one of cron, rate and at must be given, got none"]);
    expect(problemsOf({ cron: "@daily", at: "2026-01-01T00:00:00Z" })).toEqual([
      ": exactly one of cron, rate and at must be given, got cron and at",
    ]);
  });

  test("is told everything that is wrong with it at once", () => {
    const paths = problemsOf({
      cron: "61 * * * *",
      rate: "often",
      at: "soon",
      timezone: "Nowhere",
      startAt: "2026-01-01",
      endAt: "late",
      jitterSeconds: -1,
    }).map((problem) => problem.slice(0, problem.indexOf(":")));
    expect(paths.sort()).toEqual(["", "at", "cron", "endAt", "jitterSeconds", "rate", "startAt", "timezone"]);
  });

  test("has a window that is not empty", () => {
    const same = "2026-01-01T00:00:00Z";
    expect(problemsOf({ cron: "@daily", startAt: same, endAt: same })).toEqual([
      'endAt: must be after startAt (2026-01-01T00:00:00Z), got "2026-01-01T00:00:00Z"',
    ]);
    expect(problemsOf({ cron: "@daily", endAt: "1999-01-01T00:00:00Z" })).toEqual([]);
  });

  test.each([0.5, -1, 86_401, Number.NaN, Number.POSITIVE_INFINITY])("has no jitter of %d seconds", (jitterSeconds) =>
    expect(problemsOf({ cron: "@daily", jitterSeconds })).toEqual([
      `jitterSeconds: must be a whole number 0-86400, got ${jitterSeconds}`,
    ]),
  );
});
