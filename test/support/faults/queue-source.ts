import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
  type SQSClient,
} from "@aws-sdk/client-sqs";
import { LOCAL_REGION } from "../../../lib/local/engines/clients.ts";
import { failedItems } from "../../../lib/local/event-sources/batch-response.ts";
import { toSqsRecord } from "../../../lib/local/event-sources/queue-event.ts";
import type { LocalQueue } from "../../../lib/local/template/queues.ts";
import { Journal } from "./journal.ts";
import type { FunctionProcess } from "./processes.ts";

/** SQS API Reference, ReceiveMessage: at most ten messages. */
const RECEIVE_MAX = 10;

/** Short: a receive that waits for a consumer which has been killed meanwhile may be handed a message. */
const RECEIVE_WAIT_SECONDS = 1;

/**
 * Feeds consumers from a queue as Lambda's event source does, but leaves it to the test when a visibility timeout runs out:
 * what a consumer has not answered for stays invisible until {@link QueueSource.redeliver}.
 */
export interface QueueSource {
  /** Hands batches to `consumer` until its process ends or `signal` aborts. */
  feed(consumer: FunctionProcess, signal: AbortSignal): Promise<void>;
  /** The visibility timeout of every message that was received and not answered for runs out. */
  redeliver(): Promise<void>;
  /** Resolves when the queue holds nothing, visible or not. */
  drained(): Promise<void>;
  /** Whether the queue holds nothing, visible or not. */
  isEmpty(): Promise<boolean>;
}

/** The event source of `queue`, whose messages stay invisible for so long that no test sees the end of it. */
export function createQueueSource(client: SQSClient, queue: LocalQueue): QueueSource {
  const inFlight = new Map<string, string>();
  const answered = new Journal<number>();
  const QueueUrl = queue.url;

  const receive = async (signal: AbortSignal): Promise<Message[]> => {
    const command = new ReceiveMessageCommand({
      QueueUrl,
      MaxNumberOfMessages: RECEIVE_MAX,
      WaitTimeSeconds: RECEIVE_WAIT_SECONDS,
      MessageSystemAttributeNames: ["All"],
    });
    try {
      return (await client.send(command, { abortSignal: signal })).Messages ?? [];
    } catch (error) {
      if (signal.aborted) return [];
      throw error;
    }
  };
  const makeVisible = async (messageId: string | undefined): Promise<void> => {
    const ReceiptHandle = inFlight.get(messageId ?? "");
    inFlight.delete(messageId ?? "");
    if (ReceiptHandle !== undefined)
      await client.send(new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout: 0 }));
  };
  const acknowledge = async ({ MessageId, ReceiptHandle }: Message): Promise<void> => {
    // Delivered again meanwhile: an old receipt deletes it all the same, and then nobody has it in flight.
    if (inFlight.get(MessageId ?? "") === ReceiptHandle) inFlight.delete(MessageId ?? "");
    await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
  };
  const deliver = async (messages: readonly Message[], consumer: FunctionProcess): Promise<void> => {
    const ids = messages.map(({ MessageId = "" }) => MessageId);
    const event = { Records: messages.map((message) => toSqsRecord(message, queue, LOCAL_REGION)) };
    // An invocation that throws fails its batch; one whose process ended has not even failed.
    const answer = await consumer.invoke(event).then(
      (response) => failedItems(response, ids),
      () => (consumer.alive ? new Set(ids) : undefined),
    );
    if (answer === undefined) return;
    for (const message of messages)
      await (answer.has(message.MessageId ?? "") ? makeVisible(message.MessageId) : acknowledge(message));
    answered.add(messages.length);
  };

  return {
    feed: async (consumer, signal) => {
      while (consumer.alive && !signal.aborted) {
        const Messages = await receive(signal);
        for (const { MessageId = "", ReceiptHandle = "" } of Messages) inFlight.set(MessageId, ReceiptHandle);
        if (!consumer.alive) await Promise.all(Messages.map(({ MessageId }) => makeVisible(MessageId)));
        else if (Messages.length > 0) await deliver(Messages, consumer);
      }
    },
    redeliver: async () => {
      await Promise.all([...inFlight.keys()].map(makeVisible));
    },
    drained: async () => {
      await answered.until(async () => ((await messagesIn(client, QueueUrl)) === 0 ? true : undefined));
    },
    isEmpty: async () => (await messagesIn(client, QueueUrl)) === 0,
  };
}

async function messagesIn(client: SQSClient, QueueUrl: string): Promise<number> {
  const AttributeNames = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"] as const;
  const { Attributes = {} } = await client.send(
    new GetQueueAttributesCommand({ QueueUrl, AttributeNames: [...AttributeNames] }),
  );
  return AttributeNames.reduce((sum, name) => sum + Number(Attributes[name] ?? 0), 0);
}
