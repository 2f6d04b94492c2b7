import type { Instant } from "../../core/instant.ts";

/** One change of one row, as a table's stream reports it. */
export interface ChangeRecord<Row> {
  readonly key: string;
  /** The row before; absent where it was inserted. */
  readonly old?: Row;
  /** The row after; absent where it was removed. */
  readonly new?: Row;
  /** When the write took effect, by the store's clock. */
  readonly at: Instant;
  /** Counts a table's changes from 1. */
  readonly sequence: number;
}

/** A table's changes, each told once, in the order of the writes. */
export interface ChangeStream<Row> {
  /** Calls `listener` with every later change, synchronously and never nested; the answer ends that. */
  subscribe(listener: (record: ChangeRecord<Row>) => void): () => void;
}

/** Rows by key in memory, with a stream of their changes. Rows are replaced, never changed in place. */
export class MemoryTable<Row> implements ChangeStream<Row> {
  readonly #rows = new Map<string, Row>();
  readonly #listeners = new Set<(record: ChangeRecord<Row>) => void>();
  readonly #untold: ChangeRecord<Row>[] = [];
  readonly #now: () => Instant;
  #sequence = 0;
  #telling = false;

  constructor(now: () => Instant) {
    this.#now = now;
  }

  get(key: string): Row | undefined {
    return this.#rows.get(key);
  }

  /** Every row, in the order of insertion. */
  rows(): Row[] {
    return [...this.#rows.values()];
  }

  /** Puts `row` in the place of what stands there. */
  set(key: string, row: Row): void {
    const old = this.#rows.get(key);
    this.#rows.set(key, row);
    this.#tell({ key, ...(old !== undefined && { old }), new: row });
  }

  /** Removes the row, if there is one, and answers it. */
  delete(key: string): Row | undefined {
    const old = this.#rows.get(key);
    if (old === undefined) return undefined;
    this.#rows.delete(key);
    this.#tell({ key, old });
    return old;
  }

  subscribe(listener: (record: ChangeRecord<Row>) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** A listener may write: its changes are told once the one in hand has reached every listener. */
  #tell(change: Omit<ChangeRecord<Row>, "at" | "sequence">): void {
    this.#sequence += 1;
    this.#untold.push({ ...change, at: this.#now(), sequence: this.#sequence });
    if (this.#telling) return;
    this.#telling = true;
    try {
      for (let record = this.#untold.shift(); record !== undefined; record = this.#untold.shift())
        for (const listener of this.#listeners) listener(record);
    } finally {
      this.#telling = false;
    }
  }
}
