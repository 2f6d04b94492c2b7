import {
  ChangeMessageVisibilityCommand,
  CreateQueueCommand,
  DeleteMessageCommand,
  type Message,
  ReceiveMessageCommand,
  type SQSClient,
} from "@aws-sdk/client-sqs";
import { createSqsClient } from "../../lib/adapters/sqs/client.ts";
import { createMessageQueue } from "../../lib/adapters/sqs/message-queue.ts";
import { DEAD_LETTER_QUEUE } from "../../lib/app/ports.ts";
import { LOCAL_CREDENTIALS, LOCAL_REGION } from "../../lib/local/engines/clients.ts";
import { startSqs } from "../../lib/local/engines/sqs.ts";
import { MAX_RECEIVES, messageQueueContract, QUEUES, type Received, VISIBILITY_MS } from "./message-queue.contract.ts";

messageQueueContract("SQS, as the local stand-in plays it", async () => {
  const engine = await startSqs();
  const client = createSqsClient({ endpoint: engine.endpoint, region: LOCAL_REGION, credentials: LOCAL_CREDENTIALS });
  const deadLetterQueueUrl = await createQueue(client, "dead-letters", {});
  const redrive = JSON.stringify({
    deadLetterTargetArn: `arn:aws:sqs:${LOCAL_REGION}:000000000000:dead-letters.fifo`,
    maxReceiveCount: MAX_RECEIVES,
  });
  const urls = new Map([[DEAD_LETTER_QUEUE, deadLetterQueueUrl]]);
  for (const name of QUEUES)
    urls.set(name, await createQueue(client, name, name === "redriving" ? { RedrivePolicy: redrive } : {}));
  const queues = Object.fromEntries(QUEUES.map((name) => [name, urls.get(name) ?? ""]));
  return {
    queue: createMessageQueue({ client, queues, deadLetterQueueUrl }),
    receive: (name, max) => receiveUpTo(client, urls.get(name), max),
    delete: async (name, ReceiptHandle) => {
      await client.send(new DeleteMessageCommand({ QueueUrl: urls.get(name), ReceiptHandle }));
    },
    release: async (name, ReceiptHandle) => {
      const request = { QueueUrl: urls.get(name), ReceiptHandle, VisibilityTimeout: 0 };
      await client.send(new ChangeMessageVisibilityCommand(request));
    },
    close: async () => {
      client.destroy();
      await engine.close();
    },
  };
});

async function createQueue(client: SQSClient, name: string, more: Record<string, string>): Promise<string> {
  const Attributes = { FifoQueue: "true", ...more };
  const { QueueUrl = "" } = await client.send(new CreateQueueCommand({ QueueName: `${name}.fifo`, Attributes }));
  return QueueUrl;
}

async function receiveUpTo(client: SQSClient, QueueUrl: string | undefined, max: number): Promise<Received[]> {
  const { Messages = [] } = await client.send(
    new ReceiveMessageCommand({
      QueueUrl,
      MaxNumberOfMessages: max,
      VisibilityTimeout: VISIBILITY_MS / 1_000,
      MessageSystemAttributeNames: ["All"],
      MessageAttributeNames: ["All"],
    }),
  );
  return Messages.map(received);
}

const received = ({ Body = "", ReceiptHandle = "", Attributes = {}, MessageAttributes = {} }: Message): Received => ({
  body: Body,
  attributes: Object.fromEntries(
    Object.entries(MessageAttributes).map(([name, { StringValue = "" }]) => [name, StringValue]),
  ),
  groupId: Attributes.MessageGroupId ?? "",
  deduplicationId: Attributes.MessageDeduplicationId ?? "",
  receiveCount: Number(Attributes.ApproximateReceiveCount),
  receiptHandle: ReceiptHandle,
});
