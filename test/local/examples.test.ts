import { describe, expect, it } from "vitest";
import stockJobs from "../../functions/jobs.ts";
import { instant } from "../../lib/core/instant.ts";
import { parseSchedule } from "../../lib/core/schedule.ts";
import { exampleJobs, exampleSchedules } from "../../lib/local/examples.ts";

describe("the example schedules", () => {
  const limits = { queues: { default: { timeoutMaxSeconds: 60 } }, historySeconds: 30 * 86_400 };
  const examples = exampleSchedules(instant(Date.parse("2026-11-29T12:00:00Z")));

  it.each(examples.map((example) => [example.scheduleId, example] as const))(
    "%s is valid, and without a warning",
    (_, example) => {
      const parsed = parseSchedule(example, limits);
      expect(parsed).toMatchObject({ kind: "valid", schedule: { warnings: [] } });
    },
  );

  it("use jobs that there are", () => {
    const known = Object.keys({ ...stockJobs, ...exampleJobs });
    expect(known).toEqual(expect.arrayContaining(examples.map(({ job }) => job)));
  });
});
