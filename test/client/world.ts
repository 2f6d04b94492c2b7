import { createMemoryStore } from "../../lib/adapters/memory/store.ts";
import type { Manager } from "../../lib/app/manage/manager.ts";
import type { Logger, Metrics, ScheduleItem } from "../../lib/app/ports.ts";
import { createSchedulerClient } from "../../lib/client/index.ts";
import { type Instant, plusMs } from "../../lib/core/instant.ts";
import { keyAt } from "../../lib/core/new-occurrence.ts";
import type { Occurrence } from "../../lib/core/occurrence.ts";
import { NOON } from "../support/occurrences.ts";

const silent: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const uncounted: Metrics = { count: () => {}, record: () => {}, gauge: () => {} };
const SHARDS = 4;

/** A deployment in memory with a clock that stands still until it is moved, and a client of it. */
export function createWorld() {
  let at = NOON;
  const now = () => at;
  const store = createMemoryStore({ now });
  const manager: Manager = {
    occurrences: store.occurrences,
    schedules: store.schedules,
    clock: { now, sleepUntil: async () => {} },
    logger: silent,
    metrics: uncounted,
    settings: {
      historySeconds: 30 * 86_400,
      shards: SHARDS,
      queues: { default: { timeoutMaxSeconds: 840 }, slow: { timeoutMaxSeconds: 60 } },
    },
  };
  return {
    store,
    manager,
    now,
    client: createSchedulerClient(manager),
    pass: (ms: number): Instant => {
      at = plusMs(at, ms);
      return at;
    },
    insert: async (...rows: Occurrence[]) => {
      await store.occurrences.shardHighWater(SHARDS);
      return store.occurrences.insert(rows);
    },
    item: (scheduleId: string): ScheduleItem | undefined =>
      store.allSchedules().find((item) => item.scheduleId === scheduleId),
    row: (scheduleId: string, scheduledFor: Instant): Occurrence | undefined => {
      const { firing } = keyAt(scheduleId, scheduledFor);
      return store.allOccurrences().find((row) => row.scheduleId === scheduleId && row.firing === firing);
    },
  };
}

export type World = ReturnType<typeof createWorld>;
