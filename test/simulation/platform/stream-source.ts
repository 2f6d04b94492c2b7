import type { DynamoDBRecord } from "aws-lambda";
import type { Instant } from "../../../lib/core/instant.ts";
import type { Process } from "../world/process.ts";
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

/** A change of a row. */
export interface Change {
  readonly key: string;
  readonly at: Instant;
  readonly sequence: number;
  readonly old?: object;
  readonly new?: object;
}

/** A change on its way to a function. */
export interface StreamedChange extends Change {
  record(): DynamoDBRecord;
}

/** The function at the end of a stream, and what becomes known of it. */
export interface StreamTarget {
  invoke(records: DynamoDBRecord[], answered: (answer: Answer | "failed") => void): Process;
  processed(change: StreamedChange, by: Process): void;
  lost(change: StreamedChange): void;
}

interface Answer {
  readonly batchItemFailures: readonly { readonly itemIdentifier: string }[];
}

/**
 * A stream's event source: the records of one key come in the order of their writes, late, and again from the first that
 * failed; after too many tries they are lost.
 */
export class StreamSource {
  readonly #world: World;
  readonly #options: StreamSourceOptions;
  readonly #target: StreamTarget;
  readonly #lanes = new Map<string, StreamedChange[]>();

  constructor(world: World, options: StreamSourceOptions, target: StreamTarget) {
    this.#world = world;
    this.#options = options;
    this.#target = target;
  }

  /** Whether every record has been processed or lost. */
  get idle(): boolean {
    return this.#lanes.size === 0;
  }

  /** A change was written. */
  push(change: StreamedChange): void {
    const lane = this.#lanes.get(change.key);
    if (lane) {
      lane.push(change);
      return;
    }
    this.#lanes.set(change.key, [change]);
    this.#world.kernel.after(this.#options.lagMs(), () => this.#process(change.key, 1));
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
        for (const change of lane.splice(0, batch.length)) this.#target.lost(change);
      }
      if (lane.length === 0) this.#lanes.delete(key);
      else
        this.#world.kernel.after(failed ? this.#options.retryMs : this.#options.lagMs(), () =>
          this.#process(key, again),
        );
    });
  }

  /** Has the function process `batch`; answers how many, from the first on, are done. */
  #consume(batch: readonly StreamedChange[], done: (count: number) => void): void {
    const target = this.#target;
    let answered = false;
    const answer = (count: number) => {
      if (answered) return;
      answered = true;
      for (const change of batch.slice(0, count)) target.processed(change, process);
      done(count);
    };
    const process = target.invoke(
      batch.map((change) => change.record()),
      (result) => answer(result === "failed" ? 0 : processedOf(batch, result)),
    );
    process.onEnd(() => answer(0));
  }
}

function processedOf(batch: readonly StreamedChange[], { batchItemFailures }: Answer): number {
  const [first] = batchItemFailures;
  const failed = first ? batch.findIndex(({ sequence }) => String(sequence) === first.itemIdentifier) : -1;
  return failed < 0 ? batch.length : failed;
}
