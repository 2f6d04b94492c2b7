import { isDeadLetter } from "../../core/announcement.ts";
import { DEAD_STATUSES, isDead, type Occurrence, type OccurrenceKey } from "../../core/occurrence.ts";
import type { Page } from "../ports.ts";
import type { Manager } from "./manager.ts";
import { operate } from "./occurrences.ts";

/** Rows read at a time of a shard or a schedule, and pages of one schedule's history looked through. */
const PAGE = 100;
const HISTORY_PAGES_MAX = 1_000;

/** Open dead letters, newest first. `more`: there are others beyond the limit. */
export interface DeadLetters {
  readonly rows: readonly Occurrence[];
  readonly more: boolean;
}

/** The open dead letters of all schedules or of one, newest first, at most `limit`. Throws `StoreError`. */
export async function listDeadLetters(
  manager: Pick<Manager, "occurrences">,
  { limit, scheduleId }: { readonly limit: number; readonly scheduleId?: string },
): Promise<DeadLetters> {
  const rows = await (scheduleId === undefined ? newestOfAll(manager, limit) : ofSchedule(manager, scheduleId));
  rows.sort((left, right) => diedAt(right) - diedAt(left));
  return { rows: rows.slice(0, limit), more: rows.length > limit };
}

/** Lets a dead letter run again, with all its attempts. Its token stays, so that repeating this does nothing. */
export const replayDeadLetter = (manager: Manager, key: OccurrenceKey): Promise<Occurrence> =>
  operate(manager, key, { event: { type: "replay" }, isDone: (now) => !isDead(now.status) });

/** Says that a dead letter needs no one's attention: it leaves the list, and its row may expire. */
export const discardDeadLetter = (manager: Manager, key: OccurrenceKey): Promise<Occurrence> =>
  operate(manager, key, {
    event: { type: "discard" },
    isDone: (now) => isDead(now.status) && now.deadLetteredAt === undefined,
  });

const diedAt = (row: Occurrence): number => row.deadLetteredAt ?? 0;

/** One more than the limit of each shard: the newest of all are among them, and so is a sign of others. */
async function newestOfAll({ occurrences }: Pick<Manager, "occurrences">, limit: number): Promise<Occurrence[]> {
  const shards = await occurrences.shardHighWater(1);
  const perShard = await Promise.all(
    Array.from({ length: shards }, (_, shard) =>
      upTo(limit + 1, (cursor, left) =>
        occurrences.deadLetters({ shard, limit: Math.min(left, PAGE), ...(cursor !== undefined && { cursor }) }),
      ),
    ),
  );
  return perShard.flat();
}

async function ofSchedule({ occurrences }: Pick<Manager, "occurrences">, scheduleId: string): Promise<Occurrence[]> {
  const query = { scheduleId, newestFirst: true, limit: PAGE, statuses: DEAD_STATUSES };
  // A schedule's rows come by firing, not by when they died: all must be seen to know the newest.
  const dead = await upTo(HISTORY_PAGES_MAX * PAGE, (cursor) =>
    occurrences.history({ ...query, ...(cursor !== undefined && { cursor }) }),
  );
  return dead.filter(isDeadLetter);
}

async function upTo<Row>(
  limit: number,
  read: (cursor: string | undefined, left: number) => Promise<Page<Row>>,
): Promise<Row[]> {
  const rows: Row[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < HISTORY_PAGES_MAX && rows.length < limit; page += 1) {
    const found = await read(cursor, limit - rows.length);
    rows.push(...found.rows);
    cursor = found.cursor;
    if (cursor === undefined) break;
  }
  return rows;
}
