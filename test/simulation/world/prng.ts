/**
 * The simulation's only source of chance: sfc32 (Chris Doty-Humphrey, PractRand), seeded through splitmix32. The same seed
 * draws the same numbers on every machine.
 */
export class Prng {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(seed: number) {
    let state = seed | 0;
    const mix = (): number => {
      state = (state + 0x9e3779b9) | 0;
      let word = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
      word = Math.imul(word ^ (word >>> 15), 0x735a2d97);
      return word ^ (word >>> 15);
    };
    this.#a = mix();
    this.#b = mix();
    this.#c = mix();
    for (let round = 0; round < 12; round += 1) this.next();
  }

  /** The next number in [0, 1). */
  readonly next = (): number => {
    const sum = (this.#a + this.#b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum;
    this.#c |= 0;
    return (sum >>> 0) / 2 ** 32;
  };

  /** True with the given probability; draws nothing where that is 0. */
  chance(probability: number): boolean {
    return probability > 0 && this.next() < probability;
  }

  /** A whole number in [from, to]. */
  whole(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from + 1));
  }

  /** One of `items`. Throws `RangeError` where there is none. */
  pick<T>(items: readonly T[]): T {
    const item = items[Math.floor(this.next() * items.length)];
    if (item === undefined) throw new RangeError("items must not be empty, got none");
    return item;
  }

  /** `items` in a random order. */
  shuffled<T>(items: readonly T[]): T[] {
    return items
      .map((item) => ({ item, order: this.next() }))
      .sort((left, right) => left.order - right.order)
      .map(({ item }) => item);
  }

  /** A generator of its own, so that what it draws shifts nothing here. */
  fork(): Prng {
    return new Prng(Math.floor(this.next() * 2 ** 32));
  }
}
