import { dueRowOf } from "../../../lib/adapters/memory/apply.ts";
import { page } from "../../../lib/adapters/memory/page.ts";
import type { OccurrenceStore, Page } from "../../../lib/app/ports.ts";
import type { Instant } from "../../../lib/core/instant.ts";
import { type DueRow, formatKey, type Occurrence } from "../../../lib/core/occurrence.ts";
import type { World } from "./world.ts";

/**
 * The due index as a reader sees it: each change of the table arrives in it at once or late, those of one row in their
 * order (Amazon DynamoDB Developer Guide, "Global secondary indexes": eventually consistent).
 */
export class IndexView {
  readonly #world: World;
  readonly #rows = new Map<string, DueRow>();
  readonly #arriving = new Map<string, number>();
  readonly #listeners = new Set<(dueAt: Instant) => void>();

  constructor(world: World) {
    this.#world = world;
    world.store.occurrenceChanges.subscribe(({ key, new: row }) => this.#changed(key, row));
  }

  /** When the next row falls due, as far as the index shows; never where it shows none. */
  get earliest(): number {
    let earliest = Number.POSITIVE_INFINITY;
    for (const { dueAt } of this.#rows.values()) if (dueAt !== undefined && dueAt < earliest) earliest = dueAt;
    return earliest;
  }

  /**
   * Calls `action` once: as soon as the index shows a row that falls due within `aheadMs`, or at `untilMs`. The answer calls
   * that off.
   */
  whenDue(aheadMs: number, untilMs: number, action: () => void): () => void {
    const { kernel } = this.#world;
    let armedAt = Number.POSITIVE_INFINITY;
    let over = false;
    let callOff = () => {};
    const stop = () => {
      over = true;
      callOff();
      this.#listeners.delete(entered);
    };
    const arm = (at: number) => {
      if (over || at >= armedAt) return;
      armedAt = at;
      callOff();
      callOff = kernel.at(at, look);
    };
    const look = () => {
      armedAt = Number.POSITIVE_INFINITY;
      const wakeAt = Math.min(untilMs, this.earliest - aheadMs);
      if (wakeAt > kernel.now) arm(wakeAt);
      else {
        stop();
        action();
      }
    };
    const entered = (dueAt: Instant) => arm(Math.max(kernel.now, dueAt - aheadMs));
    this.#listeners.add(entered);
    look();
    return stop;
  }

  due({ shard, until, ...query }: Parameters<OccurrenceStore["due"]>[0]): Page<DueRow> {
    const rows: DueRow[] = [];
    for (const row of this.#rows.values())
      if (row.shard === shard && row.dueAt !== undefined && row.dueAt <= until) rows.push(row);
    return page(rows, (row) => [row.dueAt ?? 0, formatKey(row)], query);
  }

  #changed(key: string, row: Occurrence | undefined): void {
    const now = this.#world.kernel.now;
    const lagMs = this.#world.plan.indexLagMs(now);
    const after = this.#arriving.get(key) ?? 0;
    if (lagMs === 0 && after <= now) {
      this.#arrive(key, row);
      return;
    }
    const at = Math.max(now + lagMs, after);
    this.#arriving.set(key, at);
    if (lagMs > 0) this.#world.tell({ type: "fault", kind: "stale-index", where: key }, undefined);
    this.#world.kernel.at(at, () => this.#arrive(key, row));
  }

  #arrive(key: string, row: Occurrence | undefined): void {
    if (row?.dueAt === undefined) {
      this.#rows.delete(key);
      return;
    }
    this.#rows.set(key, dueRowOf(row));
    for (const listener of this.#listeners) listener(row.dueAt);
  }
}
