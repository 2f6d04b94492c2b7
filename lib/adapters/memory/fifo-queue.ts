import { HIDDEN_MAX_SECONDS } from "../../app/ports.ts";
import { type Instant, plusMs } from "../../core/instant.ts";

/** How long SQS FIFO remembers a deduplication id, also after the message was deleted (Amazon SQS Developer Guide, "Exactly-once processing in Amazon SQS"). */
export const DEDUPLICATION_WINDOW_MS = 300_000;

/** The longest a message can stay invisible, counted from its receive. */
export const VISIBILITY_MAX_MS = HIDDEN_MAX_SECONDS * 1000;

/** How many messages of a queue can be in flight; past it FIFO hands out none and says nothing (Amazon SQS Developer Guide, "Amazon SQS message quotas"). */
const IN_FLIGHT_MAX = 120_000;

/** SQS's default retention: four days (as above). */
const DEFAULT_RETENTION_MS = 345_600_000;

/** How a {@link FifoQueue} behaves; the defaults are SQS's. */
export interface FifoQueueOptions {
  /** Messages older than this are gone. 4 days. */
  readonly retentionMs?: number;
  /** A message received this often moves to the dead-letter queue instead of being handed out again. Default: it never does. */
  readonly redrive?: { readonly maxReceiveCount: number; readonly to: FifoQueue };
  /** Whether one receive may hand out several messages of a group, as SQS may. `true`. */
  readonly severalOfAGroup?: boolean;
  /** {@link IN_FLIGHT_MAX}; smaller in tests. */
  readonly inFlightMax?: number;
}

/** What goes into a queue. */
export interface QueuedMessage {
  readonly groupId: string;
  readonly deduplicationId: string;
  readonly body: string;
  readonly attributes: Readonly<Record<string, string>>;
}

/** A message as a receiver, or a test that looks, sees it. */
export interface MessageView extends QueuedMessage {
  readonly messageId: string;
  readonly sentAt: Instant;
  /** How often it was handed out from this queue. */
  readonly receiveCount: number;
  /** Until when it is in flight; absent when it is visible. */
  readonly invisibleUntil?: Instant;
}

/** A message as it was handed out; the handle is good while this receive's visibility lasts. */
export interface ReceivedMessage extends MessageView {
  readonly receiptHandle: string;
}

/** What became of a delete or a change of visibility. A handle is stale once its message was handed out again, became visible, or is gone. */
export type HandleVerdict = "done" | "stale";

interface Stored extends QueuedMessage {
  readonly messageId: string;
  readonly sentAt: Instant;
  receiveCount: number;
  receivedAt: Instant | undefined;
  invisibleUntil: Instant | undefined;
}

const HANDLE_SEPARATOR = "#";

/** Another receive, another handle: the one before is stale. */
const handleOf = ({ messageId, receiveCount }: Stored): string => `${messageId}${HANDLE_SEPARATOR}${receiveCount}`;

const isInFlight = ({ invisibleUntil }: Stored, now: Instant): boolean =>
  invisibleUntil !== undefined && invisibleUntil > now;

function view(message: Stored, now: Instant): MessageView {
  const { groupId, deduplicationId, body, attributes, messageId, sentAt, receiveCount, invisibleUntil } = message;
  return {
    groupId,
    deduplicationId,
    body,
    attributes,
    messageId,
    sentAt,
    receiveCount,
    ...(invisibleUntil !== undefined && invisibleUntil > now && { invisibleUntil }),
  };
}

/**
 * An SQS FIFO queue in memory, with high throughput's deduplication scope (the message group). Plain and deterministic: it reads no clock but
 * `now` and lets nothing happen by itself.
 */
export class FifoQueue {
  readonly #name: string;
  readonly #now: () => Instant;
  readonly #options: FifoQueueOptions;
  /** In order of sending: what a failed message goes back to is its old place. */
  readonly #messages = new Map<string, Stored>();
  readonly #deduplication = new Map<string, Instant>();
  #sent = 0;

  constructor(name: string, now: () => Instant, options: FifoQueueOptions = {}) {
    this.#name = name;
    this.#now = now;
    this.#options = options;
  }

  /** Takes a message, and delivers it unless its deduplication id was taken from the same group within five minutes. */
  send(message: QueuedMessage): "taken" | "swallowed" {
    this.#forget();
    const key = JSON.stringify([message.groupId, message.deduplicationId]);
    if (this.#deduplication.has(key)) return "swallowed";
    this.#deduplication.set(key, this.#now());
    this.#add(message);
    return "taken";
  }

  /** Hands out up to `max` messages, none of a group that has one in flight, and counts the receive. */
  receive({ max, visibilityMs }: { readonly max: number; readonly visibilityMs: number }): ReceivedMessage[] {
    this.#forget();
    const now = this.#now();
    const inFlight = [...this.#messages.values()].filter((message) => isInFlight(message, now));
    const blocked = new Set(inFlight.map(({ groupId }) => groupId));
    const room = (this.#options.inFlightMax ?? IN_FLIGHT_MAX) - inFlight.length;
    const received: ReceivedMessage[] = [];
    for (const message of this.#messages.values()) {
      if (received.length >= Math.min(max, room)) break;
      if (blocked.has(message.groupId) || this.#redrive(message)) continue;
      if (this.#options.severalOfAGroup === false) blocked.add(message.groupId);
      message.receiveCount += 1;
      message.receivedAt = now;
      message.invisibleUntil = plusMs(now, visibilityMs);
      received.push({ ...view(message, now), receiptHandle: handleOf(message) });
    }
    return received;
  }

  /** Removes a message that is in flight by this very receive. */
  delete(receiptHandle: string): HandleVerdict {
    const message = this.#held(receiptHandle);
    return message && this.#messages.delete(message.messageId) ? "done" : "stale";
  }

  /**
   * Lets a message that is in flight by this very receive become visible `visibilityMs` from now; 0 is at once. The next receive
   * knows nothing of it. Throws `RangeError` past {@link VISIBILITY_MAX_MS} from the receive.
   */
  changeVisibility(receiptHandle: string, visibilityMs: number): HandleVerdict {
    const message = this.#held(receiptHandle);
    if (message?.receivedAt === undefined) return "stale";
    const totalMs = this.#now() + visibilityMs - message.receivedAt;
    if (totalMs > VISIBILITY_MAX_MS)
      throw new RangeError(`visibility must be at most ${VISIBILITY_MAX_MS} ms from the receive, got ${totalMs}`);
    message.invisibleUntil = plusMs(this.#now(), visibilityMs);
    return "done";
  }

  /** What lies in the queue, in its order, without receiving it. */
  peek(): MessageView[] {
    this.#forget();
    return [...this.#messages.values()].map((message) => view(message, this.#now()));
  }

  #add(message: QueuedMessage): void {
    const messageId = `${this.#name}-${++this.#sent}`;
    const { groupId, deduplicationId, body, attributes } = message;
    this.#messages.set(messageId, {
      groupId,
      deduplicationId,
      body,
      attributes,
      messageId,
      sentAt: this.#now(),
      receiveCount: 0,
      receivedAt: undefined,
      invisibleUntil: undefined,
    });
  }

  /** SQS moves a message when its receives *exceed* the maximum: on the receive after the last one allowed. */
  #redrive(message: Stored): boolean {
    const { redrive } = this.#options;
    if (!redrive || message.receiveCount < redrive.maxReceiveCount) return false;
    this.#messages.delete(message.messageId);
    // Moved by SQS itself, a message is not deduplicated again.
    redrive.to.#add(message);
    return true;
  }

  #held(receiptHandle: string): Stored | undefined {
    this.#forget();
    const message = this.#messages.get(receiptHandle.slice(0, receiptHandle.lastIndexOf(HANDLE_SEPARATOR)));
    return message && isInFlight(message, this.#now()) && handleOf(message) === receiptHandle ? message : undefined;
  }

  #forget(): void {
    const now = this.#now();
    const retentionMs = this.#options.retentionMs ?? DEFAULT_RETENTION_MS;
    // Both maps stand in order of time, so the first that is young enough ends the search.
    for (const [id, { sentAt }] of this.#messages) {
      if (now - sentAt < retentionMs) break;
      this.#messages.delete(id);
    }
    for (const [key, sentAt] of this.#deduplication) {
      if (now - sentAt < DEDUPLICATION_WINDOW_MS) break;
      this.#deduplication.delete(key);
    }
  }
}
