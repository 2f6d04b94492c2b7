/**
 * A bounded cache that forgets what was not asked for lately. Entries live in two generations: a full young one becomes the old one,
 * the old one is dropped, and what is asked for moves to the young one. So a hit costs one look-up and no bookkeeping, unlike a strict
 * LRU list. Pure in effect: it remembers only what can be computed again.
 */
export class BoundedCache<K, V> {
  readonly #generationSize: number;
  #young = new Map<K, V>();
  #old = new Map<K, V>();

  /** Keeps at most `capacity` entries (2 or more), and at least the last half of that. */
  constructor(capacity: number) {
    this.#generationSize = Math.floor(capacity / 2);
  }

  /** The remembered value, or what `compute` answers, remembered from now on. `compute` must not answer `undefined`. */
  get(key: K, compute: () => V): V {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const value = this.#old.get(key) ?? compute();
    if (this.#young.size >= this.#generationSize) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, value);
    return value;
  }

  /** Entries held, those counted twice that moved to the young generation and still stand in the old one. */
  get size(): number {
    return this.#young.size + this.#old.size;
  }
}
