import { describe, expect, it } from "vitest";
import { createMemoryStore } from "../../../lib/adapters/memory/store.ts";
import type { ChangeRecord } from "../../../lib/adapters/memory/table.ts";
import { statusIs } from "../../../lib/core/guard.ts";
import { type Instant, plusMs } from "../../../lib/core/instant.ts";
import type { Occurrence } from "../../../lib/core/occurrence.ts";
import { anOccurrence, NOON } from "../../support/occurrences.ts";

function world() {
  let now: Instant = NOON;
  const store = createMemoryStore({ now: () => now });
  return {
    ...store,
    pass: (ms: number) => {
      now = plusMs(now, ms);
    },
  };
}

const skip = (row: Occurrence) => ({
  key: row,
  guard: [statusIs("PENDING")],
  change: { set: { status: "SKIPPED" as const } },
});

describe("the change streams of the memory store", () => {
  it("tell of each write once, in order, with the row before and after and the time of the write", async () => {
    const { occurrences, occurrenceChanges, pass } = world();
    const records: ChangeRecord<Occurrence>[] = [];
    occurrenceChanges.subscribe((record) => records.push(record));
    const row = anOccurrence();
    await occurrences.insert([row, row]);
    pass(1_000);
    await occurrences.write([skip(row), skip(row)]);
    const other = anOccurrence({ scheduleId: "other" });
    await occurrences.insert([other]);
    await occurrences.removeHead(other, undefined);
    const skipped = { ...row, status: "SKIPPED" };
    const [key, otherKey] = [`nightly@${row.firing}`, `other@${row.firing}`];
    const later = plusMs(NOON, 1_000);
    expect(records).toEqual([
      { key, new: row, at: NOON, sequence: 1 },
      { key, old: row, new: skipped, at: later, sequence: 2 },
      { key: otherKey, new: other, at: later, sequence: 3 },
      { key: otherKey, old: other, at: later, sequence: 4 },
    ]);
  });

  it("tell of what a listener writes after what it listened to has reached everyone", async () => {
    const { schedules, scheduleChanges, putItem } = world();
    const seen: string[] = [];
    scheduleChanges.subscribe((record) => {
      if (record.new && record.sequence === 1) putItem({ scheduleId: "second" });
      seen.push(`a ${record.key}`);
    });
    scheduleChanges.subscribe((record) => seen.push(`b ${record.key}`));
    await schedules.put({ scheduleId: "first" }, "any");
    expect(seen).toEqual(["a first", "b first", "a second", "b second"]);
  });

  it("go on telling after a listener has thrown, and stop for one that left", async () => {
    const { schedules, scheduleChanges } = world();
    const seen: string[] = [];
    const leave = scheduleChanges.subscribe((record) => {
      seen.push(record.key);
      if (record.key === "a") throw new Error("a listener's own fault");
    });
    await expect(schedules.put({ scheduleId: "a" }, "any")).rejects.toThrow("a listener's own fault");
    await schedules.put({ scheduleId: "b" }, "any");
    leave();
    await schedules.remove("a");
    expect(seen).toEqual(["a", "b"]);
  });
});

it("puts a whole item, as a user's own PutItem does", async () => {
  const { schedules, putItem, allSchedules } = world();
  await schedules.put({ scheduleId: "a", cron: "0 0 * * *" }, "any");
  putItem({ scheduleId: "a", rate: "1 hour" });
  expect(allSchedules()).toEqual([{ scheduleId: "a", rate: "1 hour" }]);
});

it("shows every occurrence for checks", async () => {
  const { occurrences, allOccurrences } = world();
  const rows = [anOccurrence({ scheduleId: "b" }), anOccurrence({ scheduleId: "a" })];
  await occurrences.insert(rows);
  expect(allOccurrences()).toEqual(rows);
});
