import type { HostClocks } from "./host.ts";
import type { Process } from "./process.ts";
import type { World } from "./world.ts";

/**
 * Where a function's invocations run one after the other: what its cold start made outlives them, and so do its host's clocks.
 * Between two invocations, and while a process in it stands still, it is frozen.
 */
export class Environment {
  readonly world: World;
  readonly clocks: HostClocks;
  #process: Process | undefined;
  readonly #bornAt: number;
  #idleSince: number;
  #frozenMs = 0;

  constructor(world: World, clocks: HostClocks) {
    this.world = world;
    this.clocks = clocks;
    this.#bornAt = world.kernel.now;
    this.#idleSince = this.#bornAt;
  }

  /** The invocation at work. */
  get process(): Process {
    if (this.#process === undefined) throw new Error("an environment must have an invocation, got none");
    return this.#process;
  }

  /** True time since its cold start. */
  get ageMs(): number {
    return this.world.kernel.now - this.#bornAt;
  }

  /** For how much of that it was frozen. */
  get frozenMs(): number {
    return this.#frozenMs + (this.#process?.frozenMs ?? 0);
  }

  /** An invocation begins. */
  begin(process: Process): void {
    this.#frozenMs += this.world.kernel.now - this.#idleSince;
    this.#process = process;
  }

  /** The invocation has ended well: the environment waits for the next one. */
  rest(): void {
    this.#frozenMs += this.process.frozenMs;
    this.#process = undefined;
    this.#idleSince = this.world.kernel.now;
  }
}
