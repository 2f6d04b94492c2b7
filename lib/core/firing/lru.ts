/** A bounded cache: the entry that was not asked for the longest goes first. Pure in effect, as it only remembers what can be computed again. */
export class Lru<K, V> {
  readonly #capacity: number;
  readonly #entries = new Map<K, V>();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** The remembered value, or what `compute` answers, remembered from now on. */
  get(key: K, compute: () => V): V {
    const known = this.#entries.get(key);
    if (known !== undefined) {
      this.#entries.delete(key);
      this.#entries.set(key, known);
      return known;
    }
    const value = compute();
    if (this.#entries.size >= this.#capacity) this.#dropOldest();
    this.#entries.set(key, value);
    return value;
  }

  get size(): number {
    return this.#entries.size;
  }

  #dropOldest(): void {
    for (const key of this.#entries.keys()) {
      this.#entries.delete(key);
      return;
    }
  }
}
