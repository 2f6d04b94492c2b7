import type { SQSClient } from "@aws-sdk/client-sqs";
import { mapBounded } from "../../app/bounded.ts";
import { DEAD_LETTER_QUEUE, type MessageQueue, type OutgoingMessage, type SendVerdict } from "../../app/ports.ts";
import { batched } from "../batched.ts";
import { SQS_BATCH_MAX, SQS_SIZE_MAX_BYTES } from "./limits.ts";
import { type Outgoing, outgoing } from "./outgoing.ts";
import { tooLarge, unknownQueue } from "./rejections.ts";
import { type Queue, sendBatch } from "./send-batch.ts";

/** How many batches of one queue are under way at once. Each queue has its own, so that a slow one holds up no other. */
const LANES_PER_QUEUE = 8;

/** What {@link createMessageQueue} needs. */
export interface MessageQueueOptions {
  /** One that sends once, as `createSqsClient` makes it: a retry inside the SDK would hide that a try was in doubt. */
  readonly client: SQSClient;
  /** The URLs of the deployment's queues by name. */
  readonly queues: Readonly<Record<string, string>>;
  readonly deadLetterQueueUrl: string;
}

/**
 * The deployment's FIFO queues. Every message gets a verdict of its own; sending never throws.
 * Throws `RangeError` for a URL that is not a FIFO queue's: SQS would refuse each message as if the message were wrong.
 */
export function createMessageQueue({ client, queues, deadLetterQueueUrl }: MessageQueueOptions): MessageQueue {
  const byName = new Map<string, Queue>();
  for (const [name, url] of [...Object.entries(queues), [DEAD_LETTER_QUEUE, deadLetterQueueUrl] as const]) {
    if (!url.endsWith(".fifo"))
      throw new RangeError(`the URL of queue ${name} must end with .fifo, as FIFO queues' names do, got ${url}`);
    byName.set(name, { client, name, url });
  }
  return { send: (messages) => sendAll(byName, messages) };
}

async function sendAll(
  queues: ReadonlyMap<string, Queue>,
  messages: readonly OutgoingMessage[],
): Promise<SendVerdict[]> {
  const verdicts: SendVerdict[] = new Array(messages.length);
  const byQueue = new Map<Queue, Outgoing[]>();
  for (const [index, message] of messages.entries()) {
    const queue = queues.get(message.queue);
    const ready = outgoing(message, index);
    if (!queue) verdicts[index] = unknownQueue(message.queue, [...queues.keys()]);
    else if (ready.bytes > SQS_SIZE_MAX_BYTES) verdicts[index] = tooLarge(ready.bytes);
    else if (!byQueue.get(queue)?.push(ready)) byQueue.set(queue, [ready]);
  }
  const sending = [...byQueue].map(([queue, ready]) =>
    mapBounded(batched(ready, SQS_BATCH_MAX, SQS_SIZE_MAX_BYTES), LANES_PER_QUEUE, async (batch) => {
      for (const [index, verdict] of await sendBatch(queue, batch)) verdicts[index] = verdict;
    }),
  );
  await Promise.all(sending);
  return verdicts;
}
