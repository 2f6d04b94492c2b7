import type { OccurrenceStore, ScheduleItem, ScheduleStore } from "../../app/ports.ts";
import type { Instant } from "../../core/instant.ts";
import type { Occurrence } from "../../core/occurrence.ts";
import { createMemoryOccurrenceStore } from "./occurrences.ts";
import { createMemoryScheduleStore } from "./schedules.ts";
import { type ChangeStream, MemoryTable } from "./table.ts";

/** Both tables in memory, for tests and simulations: no faults, no delays, no randomness. */
export interface MemoryStore {
  readonly occurrences: OccurrenceStore;
  readonly schedules: ScheduleStore;
  readonly occurrenceChanges: ChangeStream<Occurrence>;
  readonly scheduleChanges: ChangeStream<ScheduleItem>;
  /** Puts a whole item in the place of what stands there, as a user's own `PutItem` does: nothing is kept. */
  putItem(item: ScheduleItem): void;
  /** Every occurrence, in the order of insertion: for checks, since no port shows a whole table. */
  allOccurrences(): readonly Occurrence[];
  /** Every schedule's item, in the order of insertion. */
  allSchedules(): readonly ScheduleItem[];
}

/** An empty store; `now` stamps its change records. */
export function createMemoryStore({ now }: { readonly now: () => Instant }): MemoryStore {
  const occurrences = new MemoryTable<Occurrence>(now);
  const schedules = new MemoryTable<ScheduleItem>(now);
  return {
    occurrences: createMemoryOccurrenceStore(occurrences, schedules),
    schedules: createMemoryScheduleStore(schedules),
    occurrenceChanges: occurrences,
    scheduleChanges: schedules,
    putItem: (item) => schedules.set(item.scheduleId, item),
    allOccurrences: () => occurrences.rows(),
    allSchedules: () => schedules.rows(),
  };
}
