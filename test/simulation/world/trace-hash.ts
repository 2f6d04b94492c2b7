import { formatKey } from "../../../lib/core/occurrence.ts";
import type { Seen } from "./facts.ts";

const PRIME = 0x01000193;

/** A hash (FNV-1a, 32 bits, twice) of all that was seen, in order: two runs with one hash went the same way. */
export class TraceHash {
  #low = 0x811c9dc5;
  #high = 0x1b873593;

  add(fact: Seen): void {
    this.#number(fact.at);
    this.#text(fact.type);
    if (fact.by) this.#text(fact.by.name);
    switch (fact.type) {
      case "row":
        this.#text(fact.key);
        this.#text(fact.new?.status ?? "removed");
        this.#number(fact.new?.fencingToken ?? -1);
        this.#number(fact.new?.dueAt ?? -1);
        return;
      case "looked":
        for (const row of fact.rows) this.#text(formatKey(row));
        return;
      case "log":
        this.#text(fact.message);
        return;
      case "fault":
        this.#text(fact.kind);
        return;
      default:
        return;
    }
  }

  /** The hash so far, in hex. */
  get value(): string {
    return [this.#high, this.#low].map((half) => (half >>> 0).toString(16).padStart(8, "0")).join("");
  }

  #text(text: string): void {
    for (let index = 0; index < text.length; index += 1) this.#word(text.charCodeAt(index));
  }

  #number(value: number): void {
    this.#word(value % 2 ** 32);
    this.#word(Math.floor(value / 2 ** 32));
  }

  #word(word: number): void {
    this.#low = Math.imul(this.#low ^ word, PRIME);
    this.#high = Math.imul(this.#high ^ word, PRIME) + 0x9e3779b9;
  }
}
