import type { World } from "../world/world.ts";

/** How a table's stream feeds a function. */
export interface StreamSourceOptions {
  readonly batchSize: number;
  /** How long after its write a record comes, and after a failure comes again. */
  readonly lagMs: () => number;
  readonly retryMs: number;
  /** Tries of one batch after which its records are lost. */
  readonly triesMax: number;
  /** Whether a batch that was processed comes once more. */
  readonly repeats: () => boolean;
}

/** Processes a batch of one key's records; answers how many of them, from the first on, are done. */
export type Consume<Entry> = (records: readonly Entry[], done: (count: number) => void) => void;

/**
 * A stream's event source: the records of one key come in the order of their writes, late, and again from the first that
 * failed; after too many tries they are lost.
 */
export class StreamSource<Entry> {
  readonly #world: World;
  readonly #options: StreamSourceOptions;
  readonly #consume: Consume<Entry>;
  readonly #lost: (record: Entry) => void;
  readonly #lanes = new Map<string, Entry[]>();

  constructor(world: World, options: StreamSourceOptions, consume: Consume<Entry>, lost: (record: Entry) => void) {
    this.#world = world;
    this.#options = options;
    this.#consume = consume;
    this.#lost = lost;
  }

  /** Whether every record has been processed or lost. */
  get idle(): boolean {
    return this.#lanes.size === 0;
  }

  /** A change was written. */
  push(key: string, record: Entry): void {
    const lane = this.#lanes.get(key);
    if (lane) {
      lane.push(record);
      return;
    }
    this.#lanes.set(key, [record]);
    this.#world.kernel.after(this.#options.lagMs(), () => this.#process(key, 1));
  }

  #process(key: string, attempt: number): void {
    const lane = this.#lanes.get(key) ?? [];
    const batch = lane.slice(0, this.#options.batchSize);
    this.#consume(batch, (count) => {
      if (count === batch.length && this.#options.repeats()) {
        this.#world.tell({ type: "fault", kind: "record-repeated", where: key }, undefined);
        this.#world.kernel.after(this.#options.lagMs(), () => this.#consume(batch, () => undefined));
      }
      lane.splice(0, count);
      const failed = count < batch.length;
      const again = failed && count === 0 ? attempt + 1 : 1;
      if (failed && again > this.#options.triesMax) {
        for (const record of lane.splice(0, batch.length)) this.#lost(record);
      }
      if (lane.length === 0) this.#lanes.delete(key);
      else
        this.#world.kernel.after(failed ? this.#options.retryMs : this.#options.lagMs(), () =>
          this.#process(key, again),
        );
    });
  }
}
