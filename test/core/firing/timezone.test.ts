import { describe, expect, test } from "vitest";
import { describeSchedule } from "../../../lib/core/firing/public.ts";
import { ZONES } from "./arbitraries.ts";
import { problemsOf, timingOf } from "./build.ts";

describe("a time zone", () => {
  test.each([
    ["US/Eastern", "America/New_York"],
    ["Asia/Calcutta", "Asia/Kolkata"],
    ["Europe/Kiev", "Europe/Kyiv"],
    ["Europe/Kyiv", "Europe/Kyiv"],
    ["America/Godthab", "America/Nuuk"],
    ["utc", "UTC"],
    ["Etc/UTC", "UTC"],
    ["america/new_york", "America/New_York"],
    ["Etc/GMT-5", "Etc/GMT-5"],
    ["GB", "Europe/London"],
  ])("%s is taken as %s", (timezone, canonical) => {
    expect(timingOf({ cron: "@daily", timezone }).timezone).toBe(canonical);
    expect(describeSchedule({ cron: "@daily", timezone })).toContain(canonical);
  });

  test("is UTC when none is given", () => expect(timingOf({ cron: "@daily" }).timezone).toBe("UTC"));

  test.each([
    ["America/New_Yrok", "America/New_York"],
    ["Europe/Belrin", "Europe/Berlin"],
    ["Berlin", "Europe/Berlin"],
    ["Asia/Kolkatta", "Asia/Kolkata"],
    ["Mars/Phobos", "the nearest names are "],
    ["PST", "the nearest names are "],
    ["SystemV/PST8", "the nearest names are "],
  ])("%s is refused, with the nearest names", (timezone, hint) => {
    const [problem = "", ...others] = problemsOf({ cron: "@daily", timezone });
    expect(others).toEqual([]);
    expect(problem).toMatch(/^timezone: must be an IANA time zone name .*, got ".+"; the nearest names are /);
    expect(problem).toContain(hint);
  });

  test.each([
    "local",
    "system",
    "",
    "UTC+5",
    "+05:30",
    "-08:00",
    "GMT+5:30",
    " UTC",
    "Europe/Berlin; x",
    "a".repeat(5000),
  ])("%j is refused", (timezone) => {
    const [problem = ""] = problemsOf({ cron: "@daily", timezone });
    expect(problem).toMatch(
      /^timezone: must be an IANA time zone name such as Europe\/Berlin, UTC or Etc\/GMT-5, got /,
    );
    expect(problem.length).toBeLessThan(300);
  });

  test("is understood for every name Intl lists, and its canonical name is understood again", () => {
    for (const timezone of ZONES) {
      const canonical = timingOf({ rate: "1 hour", timezone }).timezone;
      expect(timingOf({ rate: "1 hour", timezone: canonical }).timezone).toBe(canonical);
    }
  });
});
