import type { ReceivedMessage } from "../../../lib/adapters/memory/fifo-queue.ts";
import { attemptOf } from "../ports/messaging.ts";
import type { HostClocks } from "../world/host.ts";
import type { World } from "../world/world.ts";
import { type ConsumerLimits, runConsumer } from "./functions.ts";
import type { FencedEffects } from "./jobs.ts";

/** How a queue feeds the consumer function. */
export interface QueueSourceOptions extends ConsumerLimits {
  readonly queue: string;
  readonly batchSize: number;
  readonly maxConcurrency: number;
  readonly visibilityMs: number;
  readonly hosts: () => HostClocks;
  /** How long after a message is there the pollers find it. */
  readonly pollMs: () => number;
  /** What goes wrong between queue and function. */
  readonly mishaps: () => "none" | "delivered-twice" | "acknowledgement-lost";
}

/**
 * Lambda's event source mapping of a FIFO queue: hands batches to the consumer, deletes what was processed, and leaves the
 * rest until its visibility timeout ends.
 */
export class QueueSource {
  readonly #world: World;
  readonly #options: QueueSourceOptions;
  readonly #effects: FencedEffects;
  #running = 0;
  #stopped = false;

  constructor(world: World, options: QueueSourceOptions, effects: FencedEffects) {
    this.#world = world;
    this.#options = options;
    this.#effects = effects;
    world.onNudge(() => this.#pollSoon());
    world.listen((fact) => {
      if (fact.type === "sent" && fact.queue === options.queue && !fact.swallowed) this.#pollSoon();
    });
  }

  /** Stops or resumes polling: a backlog grows meanwhile. */
  set stopped(stopped: boolean) {
    this.#stopped = stopped;
    if (!stopped) this.#pollSoon();
  }

  #pollSoon(afterMs = this.#options.pollMs()): void {
    this.#world.kernel.after(afterMs, () => this.#poll());
  }

  #poll(): void {
    const { queue, batchSize, maxConcurrency, visibilityMs } = this.#options;
    while (!this.#stopped && this.#running < maxConcurrency) {
      const messages = this.#world.queue.receive({ queue, max: batchSize, visibilityMs });
      if (messages.length === 0) return;
      this.#pollSoon(visibilityMs + 1);
      this.#invoke(messages);
    }
  }

  #invoke(messages: readonly ReceivedMessage[]): void {
    const world = this.#world;
    const { queue } = this.#options;
    const process = world.spawn("consumer", `consumer-${queue}`);
    this.#running += 1;
    process.onEnd(() => {
      this.#running -= 1;
      this.#pollSoon();
    });
    for (const { body, receiveCount } of messages) {
      const attempt = attemptOf(body);
      if (attempt) world.tell({ type: "delivered", ...attempt, receiveCount }, process);
    }
    const mishap = this.#options.mishaps();
    if (mishap !== "none") world.tell({ type: "fault", kind: mishap, where: queue }, process);
    if (mishap === "delivered-twice") {
      for (const { receiptHandle } of messages) world.queue.changeVisibility({ queue, receiptHandle, visibilityMs: 0 });
      this.#pollSoon();
    }
    const deliveries = messages.map(({ messageId, body }) => ({ id: messageId, body }));
    runConsumer(process, this.#options.hosts(), this.#options, this.#effects, deliveries, (handBack) => {
      if (handBack === "failed" || mishap === "acknowledgement-lost") return;
      const done = messages.filter(({ messageId }) => !handBack.includes(messageId));
      for (const message of done) {
        if (world.queue.delete({ queue, receiptHandle: message.receiptHandle }) === "stale") continue;
        const attempt = attemptOf(message.body);
        if (attempt) world.tell({ type: "acknowledged", ...attempt }, process);
      }
    });
  }
}
