import { DEAD_LETTER_QUEUE, type MessageQueue, type OutgoingMessage, type SendVerdict } from "../../app/ports.ts";
import type { Instant } from "../../core/instant.ts";
import { isAcceptableText } from "../../core/plain-text.ts";
import { messageBytes, SQS_SIZE_MAX_BYTES } from "../sqs/limits.ts";
import { acceptableAttributes } from "../sqs/outgoing.ts";
import { tooLarge, unacceptableText, unknownQueue } from "../sqs/rejections.ts";
import {
  FifoQueue,
  type FifoQueueOptions,
  type HandleVerdict,
  type MessageView,
  type ReceivedMessage,
} from "./fifo-queue.ts";

/** How a queue of {@link createMemoryQueue} behaves. */
interface MemoryQueueOptions extends Omit<FifoQueueOptions, "redrive"> {
  /** Receives after which SQS itself moves a message to `DEAD_LETTER_QUEUE`; it never does by default. */
  readonly maxReceiveCount?: number;
}

/** What {@link createMemoryQueue} needs. */
export interface MemoryQueuesOptions {
  /** SQS's own clock. */
  readonly now: () => Instant;
  /** The queues by name. */
  readonly queues: Readonly<Record<string, MemoryQueueOptions>>;
  readonly deadLetterQueue?: Omit<MemoryQueueOptions, "maxReceiveCount">;
}

/** Queues in memory, with the receiver's side too. A queue name that does not exist is a `RangeError` there. */
export interface MemoryQueue extends MessageQueue {
  /** Hands out up to `max` messages and keeps them invisible for `visibilityMs`. */
  receive(request: { queue: string; max: number; visibilityMs: number }): ReceivedMessage[];
  delete(request: { queue: string; receiptHandle: string }): HandleVerdict;
  /** Makes a message visible `visibilityMs` from now. Throws `RangeError` past 12 h from its receive. */
  changeVisibility(request: { queue: string; receiptHandle: string; visibilityMs: number }): HandleVerdict;
  /** What lies in a queue, received or not, without receiving it. */
  peek(queue: string): MessageView[];
}

/** The deployment's queues in memory, `DEAD_LETTER_QUEUE` among them: a test double that keeps SQS FIFO's rules. */
export function createMemoryQueue({ now, queues, deadLetterQueue }: MemoryQueuesOptions): MemoryQueue {
  const deadLetters = new FifoQueue(DEAD_LETTER_QUEUE, now, deadLetterQueue);
  const byName = new Map([[DEAD_LETTER_QUEUE, deadLetters]]);
  for (const [name, { maxReceiveCount, ...options }] of Object.entries(queues)) {
    const redrive = maxReceiveCount === undefined ? {} : { redrive: { maxReceiveCount, to: deadLetters } };
    byName.set(name, new FifoQueue(name, now, { ...options, ...redrive }));
  }
  const named = (name: string): FifoQueue => {
    const queue = byName.get(name);
    if (!queue) throw new RangeError(`queue must be one of ${[...byName.keys()].join(", ")}, got ${name}`);
    return queue;
  };
  return {
    send: async (messages) => messages.map((message) => send(byName, message)),
    receive: ({ queue, ...request }) => named(queue).receive(request),
    delete: ({ queue, receiptHandle }) => named(queue).delete(receiptHandle),
    changeVisibility: ({ queue, receiptHandle, visibilityMs }) =>
      named(queue).changeVisibility(receiptHandle, visibilityMs),
    peek: (queue) => named(queue).peek(),
  };
}

function send(queues: ReadonlyMap<string, FifoQueue>, message: OutgoingMessage): SendVerdict {
  const { deduplicationId, body } = message;
  const queue = queues.get(message.queue);
  if (!queue) return unknownQueue(message.queue, [...queues.keys()]);
  const attributes = acceptableAttributes(message.attributes ?? {});
  const bytes = messageBytes(body, attributes);
  if (bytes > SQS_SIZE_MAX_BYTES) return tooLarge(bytes);
  // SQS's reference has said both that it refuses such a body and that it replaces the characters; refusing is the harder case.
  if (!isAcceptableText(body)) return unacceptableText;
  queue.send({ groupId: deduplicationId, deduplicationId, body, attributes });
  return { kind: "accepted" };
}
