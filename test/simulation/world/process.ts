import type { Instant } from "../../../lib/core/instant.ts";
import type { Service } from "../faults/plan.ts";
import type { World } from "./world.ts";

/** What a process is there for. */
export type Role = "dispatcher" | "consumer" | "reconciler" | "notifier" | "operator";

/** For how long a fault may tell: the longest pause and what is tried again after it. No invocation lasts longer, a worker does. */
const HARM_TELLS_MS = 400_000;

/**
 * One invocation of a function, a worker, or one tool at work. All that reaches it (answers, timers) goes through {@link deliver}: a
 * killed process gets nothing any more, a paused one gets it when it thaws.
 */
export class Process {
  readonly world: World;
  readonly name: string;
  readonly role: Role;
  readonly startedAt: Instant;
  /** The faults that struck it, oldest first; `where`: the exchange's name. */
  readonly harms: { readonly at: Instant; readonly kind: string; readonly where: string }[] = [];
  /** How many requests of each name it has sent. */
  readonly calls = new Map<string, number>();
  /** The services that it cannot reach at present. */
  readonly cutOff = new Set<Service>();
  #thawedAt = Number.NEGATIVE_INFINITY;
  #alive = true;
  #killed = false;
  #pausedUntil: number;
  #frozenMs = 0;
  #held: (() => void)[] = [];
  #endings: (() => void)[] = [];

  constructor(world: World, name: string, role: Role) {
    this.world = world;
    this.name = name;
    this.role = role;
    this.startedAt = world.kernel.now;
    this.#pausedUntil = this.startedAt;
  }

  get alive(): boolean {
    return this.#alive;
  }

  /** Whether it is gone before its own end. */
  get killed(): boolean {
    return this.#killed;
  }

  get paused(): boolean {
    return this.world.kernel.now < this.#pausedUntil;
  }

  /** For how long it has stood still so far: a frozen host's monotonic clock may not have counted that. */
  get frozenMs(): number {
    return this.#frozenMs;
  }

  /** Whether a fault has struck it since `at`, or lately enough before to tell still: what a lost lease may be put down to. */
  harmedSince(at: number): boolean {
    return (this.harms.at(-1)?.at ?? Number.NEGATIVE_INFINITY) >= at - HARM_TELLS_MS;
  }

  /** The kinds of fault that struck exchanges of these names since `at`, or lately enough before to tell still. */
  struckSince(at: number, names: readonly string[]): readonly string[] {
    return this.harms
      .filter((harm) => harm.at >= at - HARM_TELLS_MS && names.includes(harm.where))
      .map(({ kind }) => kind);
  }

  /** Whether it has stood still since `at`, or lately enough before to tell still. */
  frozenSince(at: number): boolean {
    return this.paused || this.#thawedAt >= at - HARM_TELLS_MS;
  }

  /** Lets `action` reach the process: now, when it thaws, or never. */
  deliver(action: () => void): void {
    if (!this.#alive) return;
    if (this.paused) this.#held.push(action);
    else action();
  }

  /** Calls `action` after `ms` of true time, if it is still there then. The answer calls that off. */
  after(ms: number, action: () => void): () => void {
    return this.world.kernel.after(ms, () => this.deliver(action));
  }

  /** Calls `action` when it ends or is killed. */
  onEnd(action: () => void): void {
    if (this.#alive) this.#endings.push(action);
    else action();
  }

  /** How many faults have struck it so far. */
  get faults(): number {
    return this.harms.length;
  }

  /** Notes that a fault struck it. */
  suffer(kind: string, where: string): void {
    this.harms.push({ at: this.world.kernel.now, kind, where });
    this.world.tell({ type: "fault", kind, where }, this);
  }

  /** It is gone from here on, whatever it was waiting for. */
  kill(why: string): void {
    if (this.#alive) this.#finish({ type: "process", what: "killed", why });
  }

  /** It came to its own end. */
  end(): void {
    if (this.#alive) this.#finish({ type: "process", what: "ended" });
  }

  /** Stands still for `ms`, then carries on as if nothing had been. */
  pause(ms: number): void {
    if (!this.#alive || this.paused) return;
    this.#pausedUntil = this.world.kernel.now + ms;
    this.world.tell({ type: "process", what: "paused", why: `${ms} ms` }, this);
    this.world.kernel.after(ms, () => {
      this.#frozenMs += ms;
      this.#thawedAt = this.world.kernel.now;
      if (!this.#alive) return;
      this.world.tell({ type: "process", what: "thawed" }, this);
      const held = this.#held;
      this.#held = [];
      for (const action of held) this.deliver(action);
    });
  }

  #finish(fact: { type: "process"; what: "killed" | "ended"; why?: string }): void {
    this.#alive = false;
    this.#killed = fact.what === "killed";
    this.#held = [];
    this.world.tell(fact, this);
    this.world.live.delete(this);
    const endings = this.#endings;
    this.#endings = [];
    for (const ending of endings) ending();
  }
}
