import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  SetQueueAttributesCommand,
  type SQSClient,
} from "@aws-sdk/client-sqs";
import * as z from "zod";
import { isNamed, LocalEngineError } from "../errors.ts";

const text = z.union([z.string(), z.number(), z.boolean()]).transform(String).optional();

/** What counts locally of `AWS::SQS::Queue`. */
export const queueProperties = z.object({
  QueueName: z.string().optional(),
  FifoQueue: text,
  ContentBasedDeduplication: text,
  DeduplicationScope: text,
  FifoThroughputLimit: text,
  VisibilityTimeout: text,
  MessageRetentionPeriod: text,
  DelaySeconds: text,
  MaximumMessageSize: text,
  ReceiveMessageWaitTimeSeconds: text,
});

/** A queue's redrive policy, read once every queue has its ARN. */
export const redriveProperties = z.object({
  RedrivePolicy: z
    .object({ deadLetterTargetArn: z.string(), maxReceiveCount: z.coerce.number().int().positive() })
    .optional(),
});

/** A queue that stands. */
export interface LocalQueue {
  readonly logicalId: string;
  readonly name: string;
  readonly url: string;
  readonly arn: string;
}

/** The ending that SQS demands of a FIFO queue's name (SQS API Reference, CreateQueue). */
const FIFO_SUFFIX = ".fifo";

/**
 * Creates the queue, named `derivedName` unless the template names it, or takes the one that is there.
 * Throws {@link LocalEngineError} when that one has other attributes.
 */
export async function ensureQueue(
  client: SQSClient,
  logicalId: string,
  derivedName: string,
  properties: z.output<typeof queueProperties>,
): Promise<LocalQueue> {
  const { QueueName, ...attributes } = properties;
  const fifo = attributes.FifoQueue === "true";
  const name = QueueName ?? (fifo ? `${derivedName}${FIFO_SUFFIX}` : derivedName);
  // SQS refuses FifoQueue=false: a standard queue is one without the attribute.
  const given = Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined || (key === "FifoQueue" && !fifo) ? [] : [[key, value] as const],
  );
  const url = await create(client, name, Object.fromEntries(given));
  const { Attributes } = await client.send(
    new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ["QueueArn"] }),
  );
  const arn = Attributes?.["QueueArn"];
  if (arn === undefined) throw new LocalEngineError(`queue ${name} has no ARN`);
  return { logicalId, name, url, arn };
}

/** Sets what becomes of messages that were received too often. */
export async function setRedrive(
  client: SQSClient,
  queue: LocalQueue,
  { RedrivePolicy }: z.output<typeof redriveProperties>,
): Promise<void> {
  if (!RedrivePolicy) return;
  await client.send(
    new SetQueueAttributesCommand({
      QueueUrl: queue.url,
      Attributes: { RedrivePolicy: JSON.stringify(RedrivePolicy) },
    }),
  );
}

async function create(client: SQSClient, name: string, attributes: Record<string, string>): Promise<string> {
  try {
    const { QueueUrl } = await client.send(new CreateQueueCommand({ QueueName: name, Attributes: attributes }));
    if (QueueUrl === undefined) throw new LocalEngineError(`queue ${name} was created without a URL`);
    return QueueUrl;
  } catch (error) {
    if (!isNamed(error, "QueueNameExists")) throw error;
    throw new LocalEngineError(
      `queue ${name} must have the template's attributes, got those of another version: delete the queue`,
      { cause: error },
    );
  }
}
