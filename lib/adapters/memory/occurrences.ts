import type { Gate, OccurrenceStore, OccurrenceWrite, ScheduleItem, WriteVerdict } from "../../app/ports.ts";
import { INTERNAL_PREFIX } from "../../app/reserved.ts";
import { guardHolds } from "../../core/guard.ts";
import { formatKey, isHead, type Occurrence } from "../../core/occurrence.ts";
import { applyChange, dueRowOf, withoutUndefined } from "./apply.ts";
import { compareText, page } from "./page.ts";
import { isAsRead } from "./schedules.ts";
import type { MemoryTable } from "./table.ts";

/** The Occurrences table in memory. Every batch takes effect at once, in order; its indexes are never stale. */
export function createMemoryOccurrenceStore(
  table: MemoryTable<Occurrence>,
  schedules: MemoryTable<ScheduleItem>,
): OccurrenceStore {
  const due = dueKeys(table);
  const gates = new Map<string, Gate>();
  let highWater = 0;
  let sweepCursor: string | undefined;
  return {
    insert: async (rows) =>
      rows.map((row) => {
        const key = formatKey(row);
        if (table.get(key) !== undefined) return { kind: "exists" };
        table.set(key, withoutUndefined(row));
        return { kind: "inserted" };
      }),
    write: async (writes) => writes.map((write) => writeOne(table, write)),
    remove: async (removals) =>
      removals.map(({ key, guard }) => {
        if (!guardHolds(guard, table.get(formatKey(key)))) return { kind: "refused" };
        table.delete(formatKey(key));
        return { kind: "removed" };
      }),
    read: async (keys) =>
      keys.map((key) => {
        const row = table.get(formatKey(key));
        return row === undefined ? { kind: "missing" } : { kind: "found", row };
      }),
    due: async ({ shard, until, ...query }) => {
      const rows = [...due].flatMap((key) => table.get(key) ?? []);
      return page(
        rows.filter((row) => row.shard === shard && row.dueAt !== undefined && row.dueAt <= until).map(dueRowOf),
        (row) => [row.dueAt ?? 0, formatKey(row)],
        query,
      );
    },
    history: async (query) => history(table, query),
    deadLetters: async ({ shard, ...query }) =>
      page(
        table.rows().filter((row) => row.deadLetterShard === shard && row.deadLetteredAt !== undefined),
        (row) => [row.deadLetteredAt ?? 0, formatKey(row)],
        { ...query, descending: true },
      ),
    countDeadLetters: async ({ shard, limit }) =>
      Math.min(limit, table.rows().filter((row) => row.deadLetterShard === shard).length),
    removeHead: async (head, asRead) => {
      const key = formatKey(head);
      const standing = table.get(key);
      if (standing === undefined || !isHead(standing) || standing.dueAt === undefined) return "refused";
      if (standing.dueAt !== head.dueAt || !isAsRead(schedules.get(head.scheduleId), asRead)) return "refused";
      table.delete(key);
      return "removed";
    },
    readGates: async (scheduleIds) =>
      scheduleIds.map((scheduleId) => {
        const row = gates.get(scheduleId);
        return row === undefined ? { kind: "missing" } : { kind: "found", row };
      }),
    passGates: async (passages) =>
      passages.map(({ scheduleId, asRead, holder }) => {
        const standing = gates.get(scheduleId);
        if (standing?.holder !== asRead?.holder || standing?.turns !== asRead?.turns) return { kind: "refused" };
        gates.set(scheduleId, { holder, turns: (standing?.turns ?? 0) + 1 });
        return { kind: "passed" };
      }),
    shardHighWater: async (shards) => {
      highWater = Math.max(highWater, shards);
      return highWater;
    },
    readSweepCursor: async () => sweepCursor,
    writeSweepCursor: async (cursor) => {
      sweepCursor = cursor;
    },
  };
}

function writeOne(table: MemoryTable<Occurrence>, { key, guard, change }: OccurrenceWrite): WriteVerdict {
  const standing = table.get(formatKey(key));
  if (standing === undefined || !guardHolds(guard, standing)) return { kind: "refused" };
  const row = applyChange(standing, change);
  table.set(formatKey(key), row);
  return { kind: "applied", row };
}

async function history(
  table: MemoryTable<Occurrence>,
  { scheduleId, from, to, newestFirst, statuses, ...query }: Parameters<OccurrenceStore["history"]>[0],
) {
  const rows = table
    .rows()
    .filter((row) => row.scheduleId === scheduleId && !row.firing.startsWith(INTERNAL_PREFIX))
    .filter(({ firing }) => from === undefined || compareText(firing, from) >= 0)
    .filter(({ firing }) => to === undefined || compareText(firing, to) <= 0);
  const found = page(rows, ({ firing }) => [firing], { ...query, descending: newestFirst });
  return { ...found, rows: found.rows.filter((row) => statuses?.includes(row.status) ?? true) };
}

/** The keys of the rows that carry a due time, kept from the table's own changes: finished rows are most of a table. */
function dueKeys(table: MemoryTable<Occurrence>): ReadonlySet<string> {
  const keys = new Set<string>();
  table.subscribe(({ key, new: row }) => {
    if (row?.dueAt === undefined) keys.delete(key);
    else keys.add(key);
  });
  return keys;
}
