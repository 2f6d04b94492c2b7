import { describe, expect, it } from "vitest";
import type { Occurrence } from "../../../lib/core/occurrence.ts";
import { frame } from "../../../lib/local/view/frame.ts";
import { createView, type ScheduleLine, type ViewState } from "../../../lib/local/view/state.ts";
import { attempted, noon, occurrence } from "./fixture.ts";

const schedule = (scheduleId: string, problem?: string) => ({
  scheduleId,
  when: "Every 5 seconds",
  state: problem === undefined ? "ACTIVE" : "INVALID",
  problem,
});

/** The view after each of `rows` was written for the first time. */
function viewOf(schedules: readonly ScheduleLine[], rows: readonly Occurrence[]): ViewState {
  const view = createView();
  for (const line of schedules) view.putSchedule(line);
  for (const row of rows)
    view.putOccurrence(row, row.log.length === 1 ? { ...row, status: "PENDING", log: [] } : undefined);
  return view.state;
}

const lived = viewOf(
  [schedule("beat"), schedule("bad", "cron: must have 5 or 6 fields, got 3")],
  [
    occurrence("beat", { firing: "2026-11-29T12:00:05.000Z", scheduledFor: noon(5_000) }),
    attempted("beat", { status: "SUCCEEDED" }),
    attempted("flaky", { status: "RETRYING", dueAt: noon(1_800), lastError: { name: "Error", message: "not yet" } }),
    attempted("doomed", {
      status: "DEAD_LETTERED",
      attempts: 3,
      deadLetterReason: "attempts-exhausted",
      deadLetteredAt: noon(900),
    }),
  ],
);

describe("the live view", () => {
  it("shows schedules with their next firing or problem, dead letters, and recent runs, newest first", () => {
    expect(frame(lived, noon(1_000), { columns: 120, rows: 40 })).toEqual([
      "Punctual 12:00:01Z | 1 succeeded | 1 dead-lettered | median 12 ms late, 99% within 12 ms",
      "",
      "SCHEDULES (2)",
      "  bad   Every 5 seconds  INVALID  cron: must have 5 or 6 fields, got 3",
      "  beat  Every 5 seconds  ACTIVE   next in 4.0 s",
      "",
      "DEAD LETTERS (1)",
      "  doomed@2026-11-29T12:00:00.000Z  attempt 3/3  12 ms late  attempts-exhausted",
      "",
      "RECENT RUNS",
      "  12:00:00.000  doomed  DEAD_LETTERED  attempt 3/3, 12 ms late, attempts-exhausted",
      "  12:00:00.000  flaky   RETRYING       attempt 1/3, 12 ms late, again in 800 ms, Error: not yet",
      "  12:00:00.000  beat    SUCCEEDED      attempt 1/3, 12 ms late",
    ]);
  });

  it("says so when there is nothing yet", () => {
    expect(frame(createView().state, noon(), { columns: 80, rows: 24 })).toEqual([
      "Punctual 12:00:00Z",
      "",
      "SCHEDULES (0)",
      "",
      "DEAD LETTERS (0)",
      "",
      "RECENT RUNS",
    ]);
  });

  it("stays within the terminal, and says how much it leaves out", () => {
    const ids = Array.from({ length: 50 }, (_, index) => `schedule-${index}`);
    const many = viewOf(
      ids.map((id) => schedule(id)),
      ids.map((id) => attempted(id, { status: "FAILED", deadLetteredAt: noon() })),
    );
    for (const size of [
      { columns: 40, rows: 24 },
      { columns: 80, rows: 10 },
      { columns: 10, rows: 3 },
    ]) {
      const lines = frame(many, noon(), size);
      expect(lines.length).toBeLessThan(size.rows);
      for (const line of lines) expect(line.length).toBeLessThanOrEqual(size.columns);
    }
    expect(frame(many, noon(), { columns: 80, rows: 24 })).toContain("SCHEDULES (50) (5 shown)");
  });

  it("shows schedules that fire beside ever so many that are wrong", () => {
    const wrong = Array.from({ length: 50 }, (_, index) => schedule(`wrong-${index}`, "cron: must be set"));
    const lines = frame(viewOf([...wrong, schedule("beat")], []), noon(), { columns: 80, rows: 24 });
    expect(lines.find((line) => line.includes("beat"))).toBeDefined();
    expect(lines.find((line) => line.includes("wrong-0"))).toBeDefined();
  });

  it("keeps what a job throws from moving the cursor", () => {
    const row = attempted("rude", { status: "FAILED", lastError: { name: "Error", message: "a\u001b[2Jb\nc" } });
    const lines = frame(viewOf([], [row]), noon(), { columns: 120, rows: 24 });
    expect(lines.at(-1)).toContain("Error: a [2Jb c");
  });
});
