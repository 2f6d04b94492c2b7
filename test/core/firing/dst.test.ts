import { describe, expect, test } from "vitest";
import { firingsBetween, type TimingDefinition } from "../../../lib/core/firing/index.ts";
import { at, problemsOf, timingOf } from "./build.ts";

/** Firings of a day or two as `HH:MM` in UTC, marked where a change of the clocks was resolved. */
const firings = (definition: TimingDefinition, from: string, to: string): string[] =>
  firingsBetween(timingOf(definition), at(from), at(to), 200).map(({ scheduledFor, resolved }) => {
    const time = new Date(scheduledFor).toISOString().slice(11, 16);
    return resolved === undefined ? time : `${time} ${resolved}`;
  });

describe("a time inside a gap (New York, 2026-03-08: 02:00 to 03:00 EST does not exist)", () => {
  const day = (definition: TimingDefinition) =>
    firings({ timezone: "America/New_York", ...definition }, "2026-03-08T06:00:00Z", "2026-03-08T09:00:00Z");

  test("fires at the first instant after it when the expression names a time of day", () =>
    expect(day({ cron: "30 2 * * *" })).toEqual(["07:00 gap"]));
  test("fires once for several times that shift to one instant", () =>
    expect(day({ cron: "0,15,30 2,3 * * *" })).toEqual(["07:00 gap", "07:15", "07:30"]));
  test("does not exist for a pace", () => expect(day({ cron: "*/30 2 * * *" })).toEqual([]));
  test("leaves a pace as even as elapsed time", () =>
    expect(day({ cron: "*/30 * * * *" })).toEqual(["06:00", "06:30", "07:00", "07:30", "08:00", "08:30"]));
  test("does not fire under skip", () => expect(day({ cron: "30 2 * * *", dst: { gap: "skip" } })).toEqual([]));
  test("is shifted for a pace too where the schedule says so", () =>
    expect(day({ cron: "*/30 2 * * *", dst: { gap: "shift" } })).toEqual(["07:00 gap"]));
  test("belongs to the seconds field too", () => expect(day({ cron: "15,45 30 2 * * *" })).toEqual(["07:00 gap"]));
});

describe("a repeated time (New York, 2026-11-01: 01:00 to 02:00 comes twice)", () => {
  const day = (definition: TimingDefinition) =>
    firings({ timezone: "America/New_York", ...definition }, "2026-11-01T04:00:00Z", "2026-11-01T08:00:00Z");

  test("fires at its first pass when the expression names a time of day", () =>
    expect(day({ cron: "30 1 * * *" })).toEqual(["05:30 repeated"]));
  test("fires at both passes for a pace", () =>
    expect(day({ cron: "*/30 1 * * *" })).toEqual([
      "05:00 repeated",
      "05:30 repeated",
      "06:00 repeated",
      "06:30 repeated",
    ]));
  test("fires at its second pass under second", () =>
    expect(day({ cron: "30 1,2 * * *", dst: { repeated: "second" } })).toEqual(["06:30 repeated", "07:30"]));
  test("fires at both under both, in the order of real time", () =>
    expect(day({ cron: "0,30 1 * * *", dst: { repeated: "both" } })).toEqual([
      "05:00 repeated",
      "05:30 repeated",
      "06:00 repeated",
      "06:30 repeated",
    ]));
  test("fires once for a pace too where the schedule says first", () =>
    expect(day({ cron: "0 * * * *", dst: { repeated: "first" } })).toEqual(["04:00", "05:00 repeated", "07:00"]));
});

describe("unusual changes of the clocks", () => {
  test("half an hour at Lord Howe, forward", () =>
    expect(
      firings({ cron: "15 2 * * *", timezone: "Australia/Lord_Howe" }, "2026-10-03T14:00:00Z", "2026-10-03T17:00:00Z"),
    ).toEqual(["15:30 gap"]));
  test("half an hour at Lord Howe, back", () =>
    expect(
      firings(
        { cron: "45 1 * * *", timezone: "Australia/Lord_Howe", dst: { repeated: "both" } },
        "2026-04-04T14:00:00Z",
        "2026-04-04T16:00:00Z",
      ),
    ).toEqual(["14:45 repeated", "15:15 repeated"]));
  test("at midnight in Santiago", () =>
    expect(
      firings({ cron: "0 0 * * *", timezone: "America/Santiago" }, "2022-09-11T00:00:00Z", "2022-09-12T12:00:00Z"),
    ).toEqual(["04:00 gap", "03:00"]));
  test("a skipped day (Apia, 2011-12-30) is a calendar correction and adds no firing, whatever the policy", () => {
    for (const gap of ["shift", "skip"] as const)
      expect(
        firings(
          { cron: "0 12 * * *", timezone: "Pacific/Apia", dst: { gap } },
          "2011-12-29T12:00:00Z",
          "2011-12-31T12:00:00Z",
        ),
      ).toEqual(["22:00", "22:00"]);
  });
  test("zones at +05:45 and +14:00", () => {
    expect(
      firings({ cron: "0 9 * * *", timezone: "Asia/Kathmandu" }, "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"),
    ).toEqual(["03:15"]);
    expect(
      firings({ cron: "0 9 * * *", timezone: "Pacific/Kiritimati" }, "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"),
    ).toEqual(["19:00"]);
  });
  test("local mean time with seconds (Monrovia until 1972)", () => {
    const timing = timingOf({ cron: "0 9 * * *", timezone: "Africa/Monrovia" });
    const [firing] = firingsBetween(timing, at("1971-06-01T00:00:00Z"), at("1971-06-02T00:00:00Z"), 2);
    expect(firing?.scheduledFor).toBe(at("1971-06-01T09:44:30Z"));
  });
  test("a firing on the very instant of a change is one firing", () =>
    expect(
      firings({ cron: "0 3 * * *", timezone: "Europe/Berlin" }, "2026-03-29T00:00:00Z", "2026-03-29T12:00:00Z"),
    ).toEqual(["01:00"]));
});

describe("the policy", () => {
  test("must be one of the known ones", () => {
    const dst = JSON.parse('{"gap": "later", "repeated": "none"}');
    expect(problemsOf({ cron: "@daily", dst })).toEqual([
      'dst.gap: must be shift or skip, got "later"',
      'dst.repeated: must be first or second or both, got "none"',
    ]);
  });
});
