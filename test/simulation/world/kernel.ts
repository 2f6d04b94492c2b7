import { type Instant, instant } from "../../../lib/core/instant.ts";

interface Entry {
  readonly at: Instant;
  readonly sequence: number;
  /** Absent once it was called off. */
  action: (() => void) | undefined;
}

/** How many events may pass before the host's own event loop gets a turn. */
const EVENTS_BETWEEN_TURNS = 20_000;

/**
 * Virtual time: actions in the order of (time, sequence). After each, every promise that can go on does, until nothing moves
 * without time passing; so what happens depends on nothing but the actions.
 */
export class Kernel {
  #now: Instant;
  #sequence = 0;
  #handled = 0;
  readonly #heap: Entry[] = [];

  constructor(start: number) {
    this.#now = instant(start);
  }

  /** The true time: what the store's own clock shows. */
  get now(): Instant {
    return this.#now;
  }

  /** How many actions have been carried out. */
  get handled(): number {
    return this.#handled;
  }

  /** Carries out `action` at `at`, or now if that has passed. The answer calls it off. */
  at(at: number, action: () => void): () => void {
    this.#sequence += 1;
    const entry: Entry = { at: instant(Math.max(Math.ceil(at), this.#now)), sequence: this.#sequence, action };
    push(this.#heap, entry);
    return () => {
      entry.action = undefined;
    };
  }

  after(ms: number, action: () => void): () => void {
    return this.at(this.#now + ms, action);
  }

  /** Carries out everything up to `until`, or until `stop` says so between two actions. */
  run(until: number, stop: () => boolean = () => false): Promise<void> {
    return new Promise((resolve, reject) => {
      const step = () => {
        try {
          if (stop() || !this.#carryOutNext(until)) resolve();
          else if (this.#handled % EVENTS_BETWEEN_TURNS === 0) setImmediate(step);
          else whenSettled(step);
        } catch (error) {
          reject(error);
        }
      };
      whenSettled(step);
    });
  }

  /** Carries out the next action up to `until`; answers whether there was one. */
  #carryOutNext(until: number): boolean {
    for (let next = this.#heap[0]; next !== undefined && next.at <= until; next = this.#heap[0]) {
      pop(this.#heap);
      if (next.action === undefined) continue;
      this.#now = next.at;
      this.#handled += 1;
      next.action();
      return true;
    }
    this.#now = instant(Math.max(this.#now, until));
    return false;
  }
}

const READY = Promise.resolve();

/**
 * Calls `next` once every promise that can go on has done so. A microtask puts off to the tick queue, which Node serves only when
 * the microtask queue is empty (Node.js documentation, "process.nextTick"): a full drain without a turn of the event loop.
 */
function whenSettled(next: () => void): void {
  void READY.then(() => process.nextTick(next));
}

const before = (left: Entry, right: Entry): boolean =>
  left.at < right.at || (left.at === right.at && left.sequence < right.sequence);

function push(heap: Entry[], entry: Entry): void {
  let child = heap.length;
  heap.push(entry);
  while (child > 0) {
    const parent = (child - 1) >> 1;
    const above = heap[parent];
    if (above === undefined || before(above, entry)) break;
    heap[child] = above;
    child = parent;
  }
  heap[child] = entry;
}

function pop(heap: Entry[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  let parent = 0;
  for (;;) {
    let child = 2 * parent + 1;
    let below = heap[child];
    if (below === undefined) break;
    const right = heap[child + 1];
    if (right !== undefined && before(right, below)) {
      child += 1;
      below = right;
    }
    if (before(last, below)) break;
    heap[parent] = below;
    parent = child;
  }
  heap[parent] = last;
}
