import type { World } from "../world/world.ts";

/** Whether a message lies in `queue` that nobody has in hand. */
export const someWait = ({ queue: queues }: Pick<World, "queue">, queue: string): boolean =>
  queues.peek(queue).some(({ invisibleUntil }) => invisibleUntil === undefined);

/** What may be received from a queue, for receivers that wait for it: they are woken by what happens, and not by the second. */
export class Arrivals {
  readonly #world: World;
  readonly #queue: string;
  readonly #waiting = new Set<() => void>();
  #callOff: () => void = () => undefined;

  constructor(world: World, queue: string) {
    this.#world = world;
    this.#queue = queue;
    world.onNudge(() => this.changed());
    world.listen((fact) => {
      if (fact.type === "sent" && fact.queue === queue && !fact.swallowed) this.changed();
    });
  }

  /** Whether a message lies there that nobody has in hand. */
  get some(): boolean {
    return someWait(this.#world, this.#queue);
  }

  /** Calls `action` once, when a message is sent or given back or its visibility ends. The answer calls that off. */
  next(action: () => void): () => void {
    this.#waiting.add(action);
    this.#wakeInTime();
    return () => this.#waiting.delete(action);
  }

  /** Has those that wait look again. */
  changed(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of waiting) wake();
  }

  #wakeInTime(): void {
    const hidden = this.#world.queue.peek(this.#queue).flatMap(({ invisibleUntil }) => invisibleUntil ?? []);
    this.#callOff();
    if (hidden.length > 0) this.#callOff = this.#world.kernel.at(Math.min(...hidden), () => this.changed());
  }
}
