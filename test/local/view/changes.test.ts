import { describe, expect, it } from "vitest";
import { occurrenceChange, scheduleChange, scheduleRemoval } from "../../../lib/local/view/changes.ts";
import { attempted, noon, occurrence } from "./fixture.ts";

describe("the line of a run's change", () => {
  it("tells an outcome with its attempt and lateness", () => {
    const before = attempted("beat", { status: "RUNNING" });
    expect(occurrenceChange(attempted("beat", { status: "SUCCEEDED" }), before, noon(30))).toBe(
      "2026-11-29T12:00:00.030Z SUCCEEDED     beat@2026-11-29T12:00:00.000Z, attempt 1/3, 12 ms late",
    );
  });

  it("tells each retry, also when the steps between went unseen", () => {
    const first = attempted("beat", { status: "RETRYING", dueAt: noon(500) });
    const second = attempted("beat", { status: "RETRYING", attempts: 2, dueAt: noon(900) });
    expect(occurrenceChange(second, first, noon(400))).toContain("attempt 2/3, 12 ms late, again in 500 ms");
    expect(occurrenceChange({ ...second, announcedAt: noon() }, second, noon(400))).toBeUndefined();
  });

  it.each(["PENDING", "DISPATCHED", "RUNNING"] as const)("is left out on the way, at %s", (status) => {
    expect(occurrenceChange(occurrence("beat", { status }), undefined, noon())).toBeUndefined();
  });
});

describe("the line of a schedule's change", () => {
  const line = { scheduleId: "beat", when: "Every 5 seconds", state: "ACTIVE", problem: undefined };

  it("tells when it fires, or what is wrong", () => {
    expect(scheduleChange(line, undefined, noon())).toBe(
      "2026-11-29T12:00:00.000Z schedule      beat, ACTIVE, Every 5 seconds",
    );
    expect(scheduleChange({ ...line, state: "INVALID", problem: "cron: no" }, line, noon())).toContain(
      "INVALID, cron: no",
    );
  });

  it("is left out when nothing that shows has changed", () => {
    expect(scheduleChange({ ...line }, line, noon())).toBeUndefined();
  });

  it("tells a deletion", () => {
    expect(scheduleRemoval("beat", noon())).toBe("2026-11-29T12:00:00.000Z schedule      beat, deleted");
  });
});
