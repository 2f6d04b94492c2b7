import { errorMessage } from "../../core/errors.ts";
import { type Instant, plusMs } from "../../core/instant.ts";
import type { Engine } from "./engine.ts";
import { visitRows } from "./visit-rows.ts";

/** How often a shard with nothing due is looked at, and how far ahead each look goes. */
export const POLL_MS = 1_000;
/** A row overdue by this is anyone's whose own shards have nothing due: takeover and work stealing in one. */
export const TAKEOVER_AFTER_MS = 5_000;
/** Rows an index query answers at a time. */
const PAGE_ROWS = 100;
/** Pages of one look at a shard: past them it starts again from the oldest. */
const PAGES_MAX = 20;

/** One invocation's share of the work. */
export interface DispatchWindow {
  /** This dispatcher's number, from 0, of how many. */
  readonly dispatcher: number;
  readonly of: number;
  /** Until here all that is due on its own shards is its work. */
  readonly soloUntil: Instant;
  /** Until here only what is overdue: its successor may be late, or not come at all. */
  readonly until: Instant;
}

/**
 * Serves the due index until the window ends or `signal` aborts: each shard by a loop of its own, so that a throttled one
 * holds up no other, and one loop more for what others have left lying.
 */
export async function dispatch(
  engine: Engine,
  window: DispatchWindow,
  signal: AbortSignal,
): Promise<{ moved: number }> {
  const shardCount = await engine.occurrences.shardHighWater(engine.settings.shards);
  const shards = Array.from({ length: shardCount }, (_, shard) => shard);
  const own = shards.filter((shard) => shard % window.of === window.dispatcher % window.of);
  const others = shards.filter((shard) => !own.includes(shard));
  const busy = new Set<number>();
  const loops = own.map((shard) => serveShard(engine, shard, window, busy, signal));
  if (others.length > 0) loops.push(takeOver(engine, others, window, busy, signal));
  // All of them, also where one failed: nothing of this window may go on once it is over.
  const ends = await Promise.allSettled(loops);
  const failed = ends.find((end) => end.status === "rejected");
  if (failed) throw failed.reason;
  return { moved: ends.reduce((sum, end) => sum + (end.status === "fulfilled" ? end.value : 0), 0) };
}

async function serveShard(
  engine: Engine,
  shard: number,
  window: DispatchWindow,
  busy: Set<number>,
  signal: AbortSignal,
): Promise<number> {
  let moved = 0;
  await everyPoll(engine, window, signal, async (now) => {
    // In its overlap with its successor it takes only what that one has evidently left lying.
    const until = now < window.soloUntil ? plusMs(now, POLL_MS) : plusMs(now, -TAKEOVER_AFTER_MS);
    const look = await lookAt(engine, shard, until, signal);
    moved += look.moved;
    if (look.moved > 0) busy.add(shard);
    else busy.delete(shard);
    return look.moved > 0;
  });
  return moved;
}

async function takeOver(
  engine: Engine,
  others: readonly number[],
  window: DispatchWindow,
  busy: ReadonlySet<number>,
  signal: AbortSignal,
): Promise<number> {
  let moved = 0;
  await everyPoll(engine, window, signal, async (now) => {
    const shard = others[Math.floor(engine.random() * others.length)];
    if (busy.size > 0 || shard === undefined) return false;
    const look = await lookAt(engine, shard, plusMs(now, -TAKEOVER_AFTER_MS), signal);
    moved += look.moved;
    return look.moved > 0;
  });
  return moved;
}

/** Runs `look` until the window ends: at once again while it finds work, after {@link POLL_MS} otherwise. */
async function everyPoll(
  engine: Engine,
  window: DispatchWindow,
  signal: AbortSignal,
  look: (now: Instant) => Promise<boolean>,
): Promise<void> {
  for (let now = engine.clock.now(); now < window.until && !signal.aborted; now = engine.clock.now()) {
    let worked = false;
    try {
      worked = await look(now);
      engine.metrics.count("Heartbeats");
    } catch (error) {
      engine.metrics.count("StoreFailures");
      engine.logger.warn("a look at the due index failed; it is repeated", { error: errorMessage(error) });
    }
    // Also where there is more to do: the store's time may have been lost meanwhile, and waiting asks for it.
    await engine.clock.sleepUntil(worked ? now : plusMs(now, POLL_MS), signal);
  }
}

/** One pass over a shard, oldest first, past entries that turn out stale. Sleeps until each row's instant, then visits all that is due by then. */
async function lookAt(engine: Engine, shard: number, until: Instant, signal: AbortSignal): Promise<{ moved: number }> {
  let moved = 0;
  let cursor: string | undefined;
  for (let page = 0; page < PAGES_MAX && !signal.aborted; page += 1) {
    const found = await engine.occurrences.due({
      shard,
      until,
      limit: PAGE_ROWS,
      ...(cursor !== undefined && { cursor }),
    });
    for (let rest = found.rows; rest.length > 0; ) {
      const next = rest[0]?.dueAt;
      if (next !== undefined) await engine.clock.sleepUntil(next, signal);
      if (signal.aborted) return { moved };
      const now = engine.clock.now();
      const later = rest.findIndex(({ dueAt }) => dueAt !== undefined && dueAt > now);
      const due = later === -1 ? rest : rest.slice(0, later);
      moved += (await visitRows(engine, due)).moved;
      rest = rest.slice(due.length);
    }
    cursor = found.cursor;
    if (cursor === undefined) break;
  }
  return { moved };
}
