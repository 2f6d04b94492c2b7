/** What has happened so far, in order, and a way to wait for what is still to come. */
export class Journal<Entry> {
  readonly #entries: Entry[] = [];
  #wake: (() => void)[] = [];

  /** Everything so far, oldest first. */
  get entries(): readonly Entry[] {
    return this.#entries;
  }

  /** Writes one entry down and wakes whoever waits. */
  add(entry: Entry): void {
    this.#entries.push(entry);
    const waking = this.#wake;
    this.#wake = [];
    for (const wake of waking) wake();
  }

  /** The first entry that `matches`, past or to come. */
  async first(matches: (entry: Entry) => boolean): Promise<Entry> {
    const [found] = await this.atLeast(1, matches);
    if (found === undefined) throw new Error("at least one entry was waited for, and none is there");
    return found;
  }

  /** The entries that `matches`, once there are `count` of them; each is asked once. */
  async atLeast(count: number, matches: (entry: Entry) => boolean): Promise<readonly Entry[]> {
    const found: Entry[] = [];
    let asked = 0;
    return this.until(() => {
      found.push(...this.#entries.slice(asked).filter(matches));
      asked = this.#entries.length;
      return found.length >= count ? found : undefined;
    });
  }

  /** What `check` answers, as soon as that is not `undefined`: asked now, and again after every entry that `matters`. */
  async until<Result>(
    check: () => Result | undefined | Promise<Result | undefined>,
    matters: (entry: Entry) => boolean = () => true,
  ): Promise<Result> {
    for (;;) {
      let seen = this.#entries.length;
      const result = await check();
      if (result !== undefined) return result;
      // An entry that came while `check` was under way has woken nobody.
      while (!this.#entries.slice(seen).some(matters)) {
        seen = this.#entries.length;
        await new Promise<void>((wake) => this.#wake.push(wake));
      }
    }
  }
}
