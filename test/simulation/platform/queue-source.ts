import type { ReceivedMessage } from "../../../lib/adapters/memory/fifo-queue.ts";
import { someWait } from "../ports/arrivals.ts";
import { attemptOf } from "../ports/messaging.ts";
import type { HostClocks } from "../world/host.ts";
import type { World } from "../world/world.ts";
import { queueRecord } from "./events.ts";
import { type ConsumerLimits, consumerIn } from "./functions.ts";
import type { FencedEffects } from "./jobs.ts";
import type { Release } from "./release.ts";

/** A long poll's length: how often pollers ask where messages wait and none is handed out. */
const POLL_EVERY_MS = 20_000;

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
  readonly #consumer: ReturnType<typeof consumerIn>;
  #running = 0;
  #stopped = false;
  #asksAgain = false;

  constructor(world: World, options: QueueSourceOptions, effects: FencedEffects) {
    this.#world = world;
    this.#options = options;
    this.#consumer = consumerIn(world, options.hosts, options, effects);
    world.onNudge(() => this.#pollSoon());
    world.listen((fact) => {
      if (fact.type === "sent" && fact.queue === options.queue && !fact.swallowed) this.#pollSoon();
    });
  }

  /** Deploys the consumer anew. */
  redeploy(release: Release): void {
    this.#consumer.redeploy(release);
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
      if (messages.length === 0) {
        // With as many in flight as there can be, receives bring nothing though messages wait: pollers ask again and again.
        if (someWait(this.#world, queue) && !this.#asksAgain) this.#askAgain();
        return;
      }
      this.#pollSoon(visibilityMs + 1);
      this.#invoke(messages);
    }
  }

  #askAgain(): void {
    this.#asksAgain = true;
    this.#world.kernel.after(POLL_EVERY_MS, () => {
      this.#asksAgain = false;
      this.#poll();
    });
  }

  #invoke(messages: readonly ReceivedMessage[]): void {
    const world = this.#world;
    const { queue } = this.#options;
    const mishap = this.#options.mishaps();
    const process = this.#consumer.invoke(`consumer-${queue}`, { Records: messages.map(queueRecord) }, (answer) => {
      if (answer === "failed" || mishap === "acknowledgement-lost") return;
      const handBack = new Set(answer.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
      for (const { messageId, receiptHandle, body } of messages) {
        if (handBack.has(messageId) || world.queue.delete({ queue, receiptHandle }) === "stale") continue;
        const attempt = attemptOf(body);
        if (attempt) world.tell({ type: "acknowledged", ...attempt, messageId }, process);
      }
    });
    this.#running += 1;
    process.onEnd(() => {
      this.#running -= 1;
      this.#pollSoon();
    });
    for (const { messageId, body, receiveCount } of messages) {
      const attempt = attemptOf(body);
      if (attempt) world.tell({ type: "delivered", ...attempt, messageId, receiveCount }, process);
    }
    if (mishap === "none") return;
    world.tell({ type: "fault", kind: mishap, where: queue }, process);
    if (mishap !== "delivered-twice") return;
    for (const { receiptHandle } of messages) world.queue.changeVisibility({ queue, receiptHandle, visibilityMs: 0 });
    world.nudge();
  }
}
