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

  /** When the next row falls due, as far as the index shows. */
  get earliest(): Instant | undefined {
    let earliest: Instant | undefined;
    for (const { dueAt } of this.#rows.values())
      if (dueAt !== undefined && (earliest === undefined || dueAt < earliest)) earliest = dueAt;
    return earliest;
  }

  /** Calls `listener` with the due time of every row that enters the index or moves in it. */
  subscribe(listener: (dueAt: Instant) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  due({ shard, until, ...query }: Parameters<OccurrenceStore["due"]>[0]): Page<DueRow> {
    const rows = [...this.#rows.values()].filter(
      (row) => row.shard === shard && row.dueAt !== undefined && row.dueAt <= until,
    );
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
