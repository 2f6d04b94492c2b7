import { type Backoff, retryDelayMs } from "../../../core/retry.ts";
import type { Host, Inbox, InboxMessage, Logger, ReceiptVerdict } from "../../ports.ts";
import type { Tell } from "./events.ts";

/** How often SQS is asked to take a message back or away before that is left to the message's visibility. */
const TRIES = 4;

/** The pauses between those tries: 0.5, 1 and 2 s. */
const PAUSES: Backoff = {
  baseDelaySeconds: 0.5,
  multiplier: 2,
  maxDelaySeconds: 2,
  jitter: false,
};

/** What {@link Receipts} works with. */
export interface ReceiptsOptions {
  readonly inbox: Inbox;
  readonly host: Pick<Host, "sleep">;
  readonly logger: Logger;
  readonly tell: Tell;
}

/**
 * Gives messages away, after their work and off its way. Acknowledgements that come while one is under way go together with
 * the next. Each is tried a few times; one that never succeeds leaves a redelivery, which meets a row that is history.
 */
export class Receipts {
  readonly #options: ReceiptsOptions;
  readonly #underWay = new Set<Promise<void>>();
  #done: InboxMessage[] = [];
  #acknowledging = false;

  constructor(options: ReceiptsOptions) {
    this.#options = options;
  }

  /** Has a message removed whose work is done. */
  acknowledge(message: InboxMessage): void {
    this.#done.push(message);
    if (!this.#acknowledging) this.#track(this.#acknowledgeAll());
  }

  /** Has messages come again, in `seconds`. */
  handBack(messages: readonly InboxMessage[], seconds: number, reason: string): void {
    if (messages.length === 0) return;
    for (const { id } of messages)
      this.#options.tell({ kind: "handed-back", messageId: id, reason, visibleInSeconds: seconds });
    this.#track(this.#settle("hide", messages, (receipts) => this.#options.inbox.hide(receipts, seconds)));
  }

  /** Resolves when nothing is under way any more. */
  async settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }

  async #acknowledgeAll(): Promise<void> {
    this.#acknowledging = true;
    while (this.#done.length > 0) {
      const messages = this.#done;
      this.#done = [];
      await this.#settle("acknowledge", messages, (receipts) => this.#options.inbox.acknowledge(receipts));
    }
    this.#acknowledging = false;
  }

  async #settle(
    doing: "acknowledge" | "hide",
    messages: readonly InboxMessage[],
    send: (receipts: readonly string[]) => Promise<readonly ReceiptVerdict[]>,
  ): Promise<void> {
    const { host, logger, tell } = this.#options;
    let open = messages;
    for (let tries = 1; open.length > 0; tries += 1) {
      const verdicts = await send(open.map(({ receipt }) => receipt));
      const failed = verdicts.find((verdict) => verdict.kind === "failed");
      if (failed === undefined) return;
      open = open.filter((_, index) => verdicts[index]?.kind === "failed");
      tell({ kind: "error", doing, error: failed.error, messageIds: open.map(({ id }) => id) });
      if (tries === TRIES) {
        logger.warn("messages could not be given away; they come again when their visibility ends", {
          doing,
          messages: open.length,
          error: failed.error.message,
        });
        return;
      }
      await host.sleep(retryDelayMs(PAUSES, tries, 0));
    }
  }

  #track(work: Promise<void>): void {
    const tracked = work.finally(() => this.#underWay.delete(tracked));
    this.#underWay.add(tracked);
  }
}
