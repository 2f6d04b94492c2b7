import type { DynamoDBRecord } from "aws-lambda";
import { describe, expect, it } from "vitest";
import type { ScheduleItem } from "../../../lib/app/ports.ts";
import { createFeed } from "../../../lib/local/view/feed.ts";
import { createView } from "../../../lib/local/view/state.ts";
import { noon, occurrence } from "./fixture.ts";

/** A feed over a table that holds `items`, and what it tells. */
function feeding(...items: ScheduleItem[]) {
  const table = new Map(items.map((item) => [item.scheduleId, item]));
  const told: string[] = [];
  const view = createView();
  const feed = createFeed({
    view,
    schedules: {
      read: async (ids) =>
        ids.map((id) => {
          const row = table.get(id);
          return row ? { kind: "found", row } : { kind: "missing" };
        }),
    },
    limits: { queues: { default: { timeoutMaxSeconds: 60 } }, historySeconds: 86_400 },
    tell: (line) => told.push(line.replace(/^\S+Z /, "")),
    since: noon(),
  });
  return { table, told, view, feed };
}

const changed = (scheduleId: string): DynamoDBRecord => ({ dynamodb: { Keys: { scheduleId: { S: scheduleId } } } });

describe("the feed of the live view", () => {
  it("shows schedules as they stand, in the author's words, and tells each change once", async () => {
    const { feed, told, view, table } = feeding(
      { scheduleId: "a", cron: "0 9 * * 1", timezone: "Europe/Paris" },
      { scheduleId: "b", rate: "rate(5 minutes)" },
      { scheduleId: "c", cron: "0 25 * * *" },
    );
    await feed.onSchedules({ Records: [changed("a"), changed("b"), changed("c"), changed("a")] });
    await feed.onSchedules({ Records: [changed("a")] });
    table.delete("b");
    await feed.onSchedules({ Records: [changed("b")] });
    expect(told).toEqual([
      "schedule      a, NEW, cron 0 9 * * 1 (Europe/Paris)",
      "schedule      b, NEW, rate(5 minutes)",
      expect.stringMatching(/^schedule {6}c, INVALID, cron: hour must be .*, got "25"$/),
      "schedule      b, deleted",
    ]);
    expect([...view.state.schedules.keys()]).toEqual(["a", "c"]);
  });

  it("forgets a run whose row was removed", async () => {
    const { feed, view } = feeding();
    view.putOccurrence(occurrence("a"), undefined);
    await feed.onOccurrences({
      Records: [
        {
          eventName: "REMOVE",
          dynamodb: { Keys: { scheduleId: { S: "a" }, firing: { S: "2026-11-29T12:00:00.000Z" } } },
        },
      ],
    });
    expect(view.state.heads.get("a")?.size).toBe(0);
  });

  it("says which row nobody can read", async () => {
    const { feed, told } = feeding();
    const Keys = { scheduleId: { S: "a" }, firing: { S: "2026-11-29T12:00:00.000Z" } };
    await feed.onOccurrences({ Records: [{ eventName: "INSERT", dynamodb: { Keys, NewImage: Keys } }] });
    expect(told).toHaveLength(1);
    expect(told[0]).toContain("a@2026-11-29T12:00:00.000Z");
  });
});
