// What a sweep over many schedules costs the reconciler itself: time, memory, and how often it asks the store.
//   node --expose-gc --import tsx test/bench/sweep.ts [schedules]
// The store is in memory and answers at once: what DynamoDB takes to answer comes on top, ten schedules at a time.

import { sweep } from "../../lib/app/engine/sweep.ts";
import type { OccurrenceStore, ScheduleItem, ScheduleStore } from "../../lib/app/ports.ts";
import type { Occurrence } from "../../lib/core/occurrence.ts";
import { newWorld } from "../support/world.ts";

const SCHEDULES = Number(process.argv[2] ?? 100_000);
/** Schedules after which an invocation's time is up, as if it were that slow. */
const SEGMENT_SCHEDULES = 30_000;
const MB = 2 ** 20;

const asked = new Map<string, number>();
const ask = (what: string) => void asked.set(what, (asked.get(what) ?? 0) + 1);
const items: ScheduleItem[] = [];
const rowsOf = new Map<string, Occurrence[]>();
const heads: Occurrence[] = [];
const peak = { rss: 0, heapUsed: 0 };
let segmentEnds = new AbortController();

// The memory store goes through a whole table for these: here each finds its part at once, as an index does.
const indexed = {
  schedules: (real: ScheduleStore): Partial<ScheduleStore> => ({
    list: async ({ limit, cursor }) => {
      ask("pages listed");
      const start = Number(cursor ?? 0);
      // What is garbage already is no growth.
      if (start % SEGMENT_SCHEDULES === 0) globalThis.gc?.();
      const { rss, heapUsed } = process.memoryUsage();
      if (start % SEGMENT_SCHEDULES === 0) peak.heapUsed = Math.max(peak.heapUsed, heapUsed);
      peak.rss = Math.max(peak.rss, rss);
      const end = start + limit;
      if (end % SEGMENT_SCHEDULES === 0) segmentEnds.abort();
      return { rows: items.slice(start, end), ...(end < items.length && { cursor: String(end) }) };
    },
    read: (ids) => {
      ask(ids.length === 1 ? "schedules read alone" : "pages of schedules read");
      return real.read(ids);
    },
    setStatus: (asRead, status) => {
      ask("statuses written");
      return real.setStatus(asRead, status);
    },
  }),
  occurrences: (real: OccurrenceStore): Partial<OccurrenceStore> => ({
    history: async ({ scheduleId }) => {
      ask("histories read");
      return { rows: rowsOf.get(scheduleId) ?? [] };
    },
    due: async ({ limit, cursor }) => {
      ask("pages of heads read");
      const start = Number(cursor ?? 0);
      const end = start + limit;
      return { rows: heads.slice(start, end), ...(end < heads.length && { cursor: String(end) }) };
    },
    insert: (rows) => {
      ask("heads inserted");
      return real.insert(rows);
    },
  }),
};

const world = newWorld(indexed);
world.store.occurrenceChanges.subscribe(({ new: row }) => {
  if (row === undefined) return;
  rowsOf.set(row.scheduleId, [row]);
  heads.push(row);
});
const timezones = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata"];
for (let index = 0; index < SCHEDULES; index += 1) {
  const scheduleId = `schedule-${index}`;
  const timezone = timezones[index % timezones.length];
  const when = index % 2 === 0 ? { rate: "5 minutes" } : { cron: `${index % 60} ${index % 24} * * *`, timezone };
  const item = { scheduleId, ...when, payload: { customer: index, note: "x".repeat(200) } };
  world.put(item);
  items.push(item);
}

/** Sweeps to the end, in as many invocations as it takes, and prints what that cost. */
async function measure(what: string): Promise<void> {
  asked.clear();
  globalThis.gc?.();
  const before = process.memoryUsage();
  Object.assign(peak, before);
  const cpu = process.cpuUsage();
  const startMs = performance.now();
  const quiet = { ...world.engine, logger: { ...world.engine.logger, info: () => undefined } };
  const totals = { invocations: 0, schedules: 0, mended: 0 };
  for (let more = true; more; ) {
    segmentEnds = new AbortController();
    const { schedules, mended, cursor } = await sweep(quiet, world.bus, segmentEnds.signal);
    totals.invocations += 1;
    totals.schedules += schedules;
    totals.mended += mended;
    more = cursor !== undefined;
  }
  const seconds = ((performance.now() - startMs) / 1000).toFixed(1);
  const { user, system } = process.cpuUsage(cpu);
  const grown = (of: "rss" | "heapUsed") => `${Math.round((peak[of] - before[of]) / MB)} MB`;
  const costs = [...asked].map(([name, count]) => `${count} ${name}`).join(", ");
  console.log(
    [
      `${what}: ${totals.schedules} schedules, ${totals.mended} mended, in ${totals.invocations} invocations`,
      `${seconds} s, of them ${((user + system) / 1e6).toFixed(1)} s of CPU`,
      `at most ${grown("heapUsed")} of live heap and ${grown("rss")} of memory beyond what the store took before`,
      costs,
    ].join("\n  "),
  );
}

await measure("every chain to be begun");
await measure("nothing to mend");
