import { type Instant, later, plusMs } from "../../core/instant.ts";
import { LEASES } from "../../core/lease.ts";
import { type DueRow, isHead, type Occurrence } from "../../core/occurrence.ts";
import { FIRST_INSTANT_KEY, LAST_INSTANT_KEY } from "./chain.ts";
import type { Engine } from "./engine.ts";

/** Newest rows read at a time in search of the chain's end, and how often: only a backfill lays that many rows before it. */
const RECENT_ROWS = 50;
const RECENT_PAGES_MAX = 20;

/** A schedule's heads among its newest rows, and how far each version's firings were dealt with. */
export interface Heads {
  readonly rows: readonly Occurrence[];
  readonly newestOfVersion: ReadonlyMap<string, Instant>;
}

/** Finds {@link Heads}. Throws `StoreError` where the rows cannot be read. */
export async function findHeads(engine: Engine, scheduleId: string): Promise<Heads> {
  let cursor: string | undefined;
  let chain: readonly Occurrence[] = [];
  for (let page = 0; page < RECENT_PAGES_MAX && chain.length === 0; page += 1) {
    const read = await engine.occurrences.history({
      scheduleId,
      from: FIRST_INSTANT_KEY,
      to: LAST_INSTANT_KEY,
      newestFirst: true,
      limit: RECENT_ROWS,
      ...(cursor !== undefined && { cursor }),
    });
    chain = read.rows.filter(({ kind }) => kind === "scheduled");
    cursor = read.cursor;
    if (cursor === undefined) break;
  }
  // Newest first: the first of each version is its newest. What its misfire decision stands for was dealt with too.
  const newestOfVersion = new Map(
    chain
      .toReversed()
      .map((row) => [row.scheduleVersion, later(row.scheduledFor, row.misfire?.to ?? row.scheduledFor)]),
  );
  return { rows: chain.filter(isHead), newestOfVersion };
}

/** Whether a head is still to be looked at: at its instant, or again while it waits for its turn. */
export const isFuture = (head: DueRow, now: Instant): boolean => head.dueAt !== undefined && head.dueAt > now;

/**
 * Whether a head's own instant is still to come, also by a clock that is as far behind the store's as one may be. One that has
 * fallen due is the dispatcher's, also while it waits for its turn.
 */
export const isBeforeItsInstant = (head: DueRow, now: Instant): boolean =>
  isFuture(head, now) && head.firstDueAt > plusMs(now, LEASES.leaseMarginMs);
