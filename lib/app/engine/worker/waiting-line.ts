import { HIDDEN_MAX_SECONDS, type Host, type Inbox, type InboxMessage, type Logger } from "../../ports.ts";
import { elapsedMs, type Moment, momentOf } from "../moment.ts";
import { isSuspect, type OpenDelivery, openDelivery } from "../run-delivery.ts";
import type { Tell } from "./events.ts";

/** How often within a visibility timeout a waiting message is hidden anew. Four times, so that the third try still comes in time after two that failed. */
const EXTENSIONS_PER_TIMEOUT = 4;

/** A message in this worker's hands that has not been started. */
export interface Held {
  readonly message: InboxMessage;
  readonly opened: OpenDelivery;
  readonly receivedAt: Moment;
  /** Since when it is hidden for a whole visibility timeout. */
  hiddenAt: Moment;
}

/** What {@link WaitingLine} works with. */
export interface WaitingLineOptions {
  readonly inbox: Inbox;
  readonly host: Host;
  readonly logger: Logger;
  readonly tell: Tell;
  readonly visibilitySeconds: number;
}

/** The messages that wait to be started, in the order they came, kept hidden from others meanwhile. */
export class WaitingLine {
  readonly #options: WaitingLineOptions;
  #waiting: readonly Held[] = [];

  constructor(options: WaitingLineOptions) {
    this.#options = options;
  }

  get length(): number {
    return this.#waiting.length;
  }

  /** The first of those that must run alone. */
  get firstSuspect(): Held | undefined {
    return this.#waiting.find(({ opened }) => isSuspect(opened));
  }

  /** A message that was received this moment. */
  add(message: InboxMessage): void {
    const now = momentOf(this.#options.host);
    this.#waiting = [...this.#waiting, { message, opened: openDelivery(message), receivedAt: now, hiddenAt: now }];
  }

  /**
   * Takes out who is next: the first suspect, else the first of all. One whose visibility has ended is left to whoever
   * receives it again.
   */
  takeNext(): Held | undefined {
    for (;;) {
      const next = this.firstSuspect ?? this.#waiting[0];
      if (next === undefined) return undefined;
      this.#remove(next);
      if (!this.#hasLapsed(next)) return next;
      this.#lapsed(next);
    }
  }

  /** Takes out those that must run alone. */
  takeSuspects(): readonly Held[] {
    const suspects = this.#waiting.filter(({ opened }) => isSuspect(opened));
    for (const held of suspects) this.#remove(held);
    return suspects;
  }

  /** Takes out all of them. */
  takeAll(): readonly Held[] {
    const all = this.#waiting;
    this.#waiting = [];
    return all;
  }

  /** Hides them anew, time and again, until `over`. `release`: what to do with those that SQS hides no longer. */
  async keepHidden(over: AbortSignal, release: (messages: readonly InboxMessage[]) => void): Promise<void> {
    const { host, visibilitySeconds } = this.#options;
    const everyMs = (visibilitySeconds * 1000) / EXTENSIONS_PER_TIMEOUT;
    let beganAt = momentOf(host);
    while (!over.aborted) {
      await host.sleep(Math.max(everyMs - elapsedMs(host, beganAt), 0), over);
      beganAt = momentOf(host);
      if (over.aborted) return;
      const old = this.#waiting.filter((held) => this.#isTooOld(held));
      for (const held of old) this.#remove(held);
      release(old.map(({ message }) => message));
      await this.#hideAll();
    }
  }

  async #hideAll(): Promise<void> {
    const { inbox, host, tell, visibilitySeconds } = this.#options;
    const hidden = this.#waiting;
    if (hidden.length === 0) return;
    const sentAt = momentOf(host);
    const verdicts = await inbox.hide(
      hidden.map(({ message }) => message.receipt),
      visibilitySeconds,
    );
    const failed: string[] = [];
    for (const [index, held] of hidden.entries()) {
      const verdict = verdicts[index];
      if (verdict?.kind === "done") held.hiddenAt = sentAt;
      else if (verdict?.kind === "failed") failed.push(held.message.id);
      // It may have been started while SQS was asked.
      else if (this.#remove(held)) this.#lapsed(held);
    }
    const failure = verdicts.find((verdict) => verdict.kind === "failed");
    if (failure !== undefined) tell({ kind: "error", doing: "hide", error: failure.error, messageIds: failed });
  }

  #isTooOld({ receivedAt }: Held): boolean {
    const { host, visibilitySeconds } = this.#options;
    return elapsedMs(host, receivedAt) + 2 * visibilitySeconds * 1000 > HIDDEN_MAX_SECONDS * 1000;
  }

  #hasLapsed({ hiddenAt }: Held): boolean {
    const { host, visibilitySeconds } = this.#options;
    return elapsedMs(host, hiddenAt) >= visibilitySeconds * 1000;
  }

  #lapsed({ message }: Held): void {
    const { logger, tell } = this.#options;
    logger.warn("a message waited beyond its visibility and is left to others", { messageId: message.id });
    tell({ kind: "lapsed", messageId: message.id });
  }

  #remove(held: Held): boolean {
    const before = this.#waiting.length;
    this.#waiting = this.#waiting.filter((other) => other !== held);
    return this.#waiting.length < before;
  }
}
