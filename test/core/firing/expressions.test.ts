import { describe, expect, test } from "vitest";
import { firingsBetween } from "../../../lib/core/firing/index.ts";
import { at, isoOf, problemsOf, timingOf } from "./build.ts";

/** The days of a range on which `0 0 <rest>` fires, as MM-DD. */
const daysOf = (cron: string, from = "2026-01-01", to = "2026-02-01"): string[] =>
  isoOf(firingsBetween(timingOf({ cron }), at(`${from}T00:00:00Z`), at(`${to}T00:00:00Z`), 400)).map((iso) =>
    iso.slice(5, 10),
  );

const minutesOf = (cron: string, scheduleId = "reports"): number[] =>
  isoOf(firingsBetween(timingOf({ cron, scheduleId }), at("2026-01-01T00:00:00Z"), at("2026-01-01T01:00:00Z"), 60)).map(
    (iso) => Number(iso.slice(14, 16)),
  );

describe("refuses, naming field, value and what is allowed", () => {
  test.each([
    ["", 'must have 5 fields (minute hour day-of-month month day-of-week), or 6 with the second first, got 0 in ""'],
    ["5", 'got 1 in "5"'],
    ["*/10", 'got 1 in "*/10"'],
    ["*", 'got 1 in "*"'],
    ["0 9 * *", 'got 4 in "0 9 * *"'],
    ["0 0 0 1 1 ? 2026", 'got 7 in "0 0 0 1 1 ? 2026"'],
    ["0 9 ? * MON-FRI *", "in the AWS form write cron(0 9 ? * MON-FRI *)"],
    ["0 9 1 1 ? 2026", "in the AWS form write cron(0 9 1 1 ? 2026)"],
    ["*/90 * * * *", 'minute step must be 1-60 (the range it steps through has no more values), got "*/90"'],
    ["10-20/15 * * * *", 'minute step must be 1-11 (the range it steps through has no more values), got "10-20/15"'],
    ["*/0 * * * *", 'minute step must be 1-60 (the range it steps through has no more values), got "*/0"'],
    ["60 * * * *", 'minute must be 0-59, *, a-b, */step, a/step, H, or a list of these, got "60"'],
    ["60 * * * * *", 'second must be 0-59, *, a-b, */step, a/step, H, or a list of these, got "60"'],
    ["30-10 * * * *", 'minute range must go upwards, got "30-10"'],
    ["1.5 * * * *", 'got "1.5"'],
    ["-5 * * * *", 'got "-5"'],
    ["5- * * * *", 'got "5-"'],
    ["5/ * * * *", 'got "5/"'],
    ["*/5/2 * * * *", 'got "*/5/2"'],
    ["1e1 * * * *", 'got "1e1"'],
    ["? * * * *", 'minute must be 0-59, *, a-b, */step, a/step, H, or a list of these, got "?"'],
    ["1,,2 * * * *", 'minute must not have an empty entry in its list, got "1,,2"'],
    ["0 24 * * *", 'hour must be 0-23, *, a-b, */step, a/step, H, or a list of these, got "24"'],
    ["0 22-2 * * *", 'hour range must go upwards, got "22-2"'],
    [
      "0 0 0 * *",
      'day-of-month must be 1-31, *, ?, a-b, */step, a/step, L, L-n, nW, LW, H, or a list of these, got "0"',
    ],
    ["0 0 32W * *", 'day-of-month nW must have n 1-31, got "32W"'],
    ["0 0 L-31 * *", 'day-of-month L-n must have n 1-30, got "L-31"'],
    ["0 0 L-0 * *", 'day-of-month L-n must have n 1-30, got "L-0"'],
    ["0 0 ?/2 * *", 'got "?/2"'],
    ["0 0 * 13 *", 'month must be 1-12 or JAN-DEC, *, a-b, */step, a/step, H, or a list of these, got "13"'],
    ["0 0 * FEBRUARY *", 'got "FEBRUARY"'],
    ["0 0 * * 8", "day-of-week must be 0-7 (0 and 7 are Sunday) or SUN-SAT"],
    ["0 0 * * FEB", 'got "FEB"'],
    ["0 0 * * 1#6", 'day-of-week n#k must have k 1-5, got "1#6"'],
    ["0 0 * * 1#0", 'day-of-week n#k must have k 1-5, got "1#0"'],
    ["0 0 * * L", 'got "L"'],
    ["0 0 30 2 *", 'must be able to fire, got "0 0 30 2 *"'],
    ["0 0 31 4,6 *", 'must be able to fire, got "0 0 31 4,6 *"'],
    ["0 0 31W 2 *", "must be able to fire"],
    ["cron(0 0 29 2 ? 2026)", "must be able to fire"],
    ["@reboot", 'got "@reboot"; for a plain interval write rate, as in "5 minutes"'],
    ["@every 5m", 'got "@every 5m"; for a plain interval write rate, as in "5 minutes"'],
    ["@fortnightly", "must be one of @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly"],
    ["TZ=Europe/Berlin 0 9 * * *", "the timezone attribute does"],
    ["rate(5 minutes)", "rate and at are attributes of their own"],
    ["cron(0 9 * * *)", "must have 6 fields within cron(...)"],
    ["cron(0 9 * * MON *", "must be closed as in cron(0 9 ? * MON-FRI *)"],
    ["cron(0 9 * * * *)", 'exactly one of day-of-month and day-of-week must be "?" within cron(...)'],
    ["cron(0 9 ? * ? *)", 'exactly one of day-of-month and day-of-week must be "?" within cron(...)'],
    ["cron(0 9 ? * 0 *)", "day-of-week must be 1-7 (1 is Sunday) or SUN-SAT"],
    ["cron(0 9 ? * 8 *)", "day-of-week must be 1-7 (1 is Sunday) or SUN-SAT"],
    ["cron(H 9 * * ? *)", 'got "H"'],
    ["cron(0 9 * * ? 1969)", 'year must be 1970-2199, *, a-b, */step, a/step, or a list of these, got "1969"'],
    ["cron(0 9 * * ? 2200)", "year must be 1970-2199"],
    ["H(30-70) * * * *", 'minute range of H must go upwards within 0-59, got "H(30-70)"'],
    ["H(5-1) * * * *", "minute range of H must go upwards within 0-59"],
    ["H/90 * * * *", "minute step must be 1-60"],
    ["0 ".repeat(600), "must be at most 1024 characters, got 1199"],
  ])("%s", (cron, message) => {
    const problems = problemsOf({ cron, scheduleId: "reports" });
    expect(problems.join("\n")).toContain(message);
    expect(problems.every((problem) => problem.startsWith("cron: "))).toBe(true);
  });

  test("every wrong field of an expression at once", () => {
    expect(problemsOf({ cron: "60,61 24 0 13 8" })).toHaveLength(6);
  });

  test("H without a schedule id to take the hash of", () => {
    expect(problemsOf({ cron: "H * * * *" })).toEqual([
      'cron: minute must not be H without a scheduleId to take the hash of, got "H"',
    ]);
  });
});

describe("accepts", () => {
  test.each([
    ["5/15 * * * *", [5, 20, 35, 50]],
    ["1,1 * * * *", [1]],
    ["*/20,5 * * * *", [0, 5, 20, 40]],
    ["0-59/30 * * * *", [0, 30]],
    ["05,07-09 * * * *", [5, 7, 8, 9]],
    ["*/60 * * * *", [0]],
    ["\t0,30   *  *\t* *  ", [0, 30]],
    ["cron(0/20 * * * ? *)", [0, 20, 40]],
    ["CRON( 10 * ? * * 2025-2027 )", [10]],
    ["@hourly", [0]],
  ])("%s in the minutes %j", (cron, minutes) => expect(minutesOf(cron)).toEqual(minutes));

  test.each([
    ["0 0 * * 0,7", ["01-04", "01-11", "01-18", "01-25"]],
    ["0 0 * * 7-7", ["01-04", "01-11", "01-18", "01-25"]],
    ["0 0 * * SAT-SUN", ["01-03", "01-04", "01-10", "01-11", "01-17", "01-18", "01-24", "01-25", "01-31"]],
    ["0 0 * * 6-7", ["01-03", "01-04", "01-10", "01-11", "01-17", "01-18", "01-24", "01-25", "01-31"]],
    ["0 0 * * 6-0", ["01-03", "01-04", "01-10", "01-11", "01-17", "01-18", "01-24", "01-25", "01-31"]],
    [
      "0 0 1-12 * FRI-MON/2",
      [
        "01-01",
        "01-02",
        "01-03",
        "01-04",
        "01-05",
        "01-06",
        "01-07",
        "01-08",
        "01-09",
        "01-10",
        "01-11",
        "01-12",
        "01-16",
        "01-18",
        "01-23",
        "01-25",
        "01-30",
      ],
    ],
    ["0 0 * * 5-1/3", ["01-02", "01-05", "01-09", "01-12", "01-16", "01-19", "01-23", "01-26", "01-30"]],
    ["0 0 * * 1/3", ["01-01", "01-05", "01-08", "01-12", "01-15", "01-19", "01-22", "01-26", "01-29"]],
    ["0 0 L * *", ["01-31"]],
    ["0 0 L-3 * *", ["01-28"]],
    ["0 0 LW * *", ["01-30"]],
    ["0 0 10W,31W * *", ["01-09", "01-30"]],
    ["0 0 1,L * *", ["01-01", "01-31"]],
    ["0 0 * * mon#2", ["01-12"]],
    ["0 0 * * 1#1,5#5", ["01-05", "01-30"]],
    ["0 0 * * FRIL", ["01-30"]],
    ["0 0 13 * fri", ["01-02", "01-09", "01-13", "01-16", "01-23", "01-30"]],
    ["0 0 */2 * MON", ["01-05", "01-19"]],
    ["0 0 13 * ?", ["01-13"]],
    ["cron(0 0 ? * 1 *)", ["01-04", "01-11", "01-18", "01-25"]],
    ["cron(0 0 ? * 7-1 *)", ["01-03", "01-04", "01-10", "01-11", "01-17", "01-18", "01-24", "01-25", "01-31"]],
    ["cron(0 0 ? * 2/3 *)", ["01-01", "01-05", "01-08", "01-12", "01-15", "01-19", "01-22", "01-26", "01-29"]],
    ["cron(0 0 ? * 6#3 *)", ["01-16"]],
    ["cron(0 0 ? * 6L *)", ["01-30"]],
    ["cron(0 0 ? * L *)", ["01-03", "01-10", "01-17", "01-24", "01-31"]],
    ["cron(0 0 LW * ? *)", ["01-30"]],
    ["@monthly", ["01-01"]],
    ["@Weekly", ["01-04", "01-11", "01-18", "01-25"]],
  ])("%s on the days %j of January 2026", (cron, days) => expect(daysOf(cron)).toEqual(days));

  test("nW within its month: the 1st on a Saturday moves to the 3rd, the last on a Sunday to the Friday before", () => {
    expect(daysOf("0 0 1W * *", "2022-01-01", "2022-02-01")).toEqual(["01-03"]);
    expect(daysOf("0 0 31W * *", "2021-01-01", "2021-03-01")).toEqual(["01-29"]);
  });

  test("the Mondays of February for an impossible day of month or a Monday", () => {
    expect(daysOf("0 0 31 2 1", "2026-01-01", "2027-01-01")).toEqual(["02-02", "02-09", "02-16", "02-23"]);
  });

  test("a year field, and ends with it", () => {
    expect(daysOf("cron(0 0 1 1 ? 2027,2029/2)", "2026-01-01", "2036-01-01")).toHaveLength(5);
  });
});

describe("H", () => {
  test("is the same at every parse and differs between schedules and between fields", () => {
    const minutes = ["a", "b", "c", "d", "e", "f"].map((id) => minutesOf("H * * * *", id).join());
    expect(minutes).toEqual(["a", "b", "c", "d", "e", "f"].map((id) => minutesOf("H * * * *", id).join()));
    expect(new Set(minutes).size).toBeGreaterThan(2);
  });

  test("with a step keeps the step and moves the start", () => {
    const [first = -1, second = -1, third = -1, fourth = -1] = minutesOf("H/15 * * * *");
    expect([second - first, third - second, fourth - third]).toEqual([15, 15, 15]);
    expect(first).toBeLessThan(15);
  });

  test("keeps within its range, and as day of month within every month", () => {
    for (let n = 0; n < 50; n += 1) {
      const [minute = -1] = minutesOf("H(10-12) * * * *", `schedule-${n}`);
      expect(minute).toBeGreaterThanOrEqual(10);
      expect(minute).toBeLessThanOrEqual(12);
      expect(timingOf({ cron: "0 0 H 2 *", scheduleId: `schedule-${n}` }).kind).toBe("cron");
    }
  });
});
