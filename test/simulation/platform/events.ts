import type { AttributeValue, DynamoDBRecord, SQSRecord } from "aws-lambda";
import type { ReceivedMessage } from "../../../lib/adapters/memory/fifo-queue.ts";
import { TTL_IDENTITY } from "./expiry.ts";
import type { Change } from "./stream-source.ts";

/** A change as Lambda's event has it (Amazon DynamoDB Streams API Reference, "StreamRecord"): its time in whole seconds. */
export function streamRecord(keys: object, { at, sequence, old, new: row }: Change, expired = false): DynamoDBRecord {
  return {
    eventName: old === undefined ? "INSERT" : row === undefined ? "REMOVE" : "MODIFY",
    ...(expired && { userIdentity: TTL_IDENTITY }),
    dynamodb: {
      Keys: mapOf(keys),
      ...(old && { OldImage: imageOf(old) }),
      ...(row && { NewImage: imageOf(row) }),
      ApproximateCreationDateTime: Math.floor(at / 1000),
      SequenceNumber: String(sequence),
    },
  };
}

const images = new WeakMap<object, Record<string, AttributeValue>>();

/** Made once for each state of a row, which is in two records as a rule: of the change that brought it, and of the one that ended it. */
function imageOf(row: object): Record<string, AttributeValue> {
  const image = images.get(row) ?? mapOf(row);
  images.set(row, image);
  return image;
}

const mapOf = (row: object): Record<string, AttributeValue> =>
  Object.fromEntries(
    Object.entries(row).flatMap(([name, value]) => (value === undefined ? [] : [[name, attributeOf(value)]])),
  );

function attributeOf(value: unknown): AttributeValue {
  if (typeof value === "string") return { S: value };
  if (typeof value === "number") return { N: String(value) };
  if (typeof value === "boolean") return { BOOL: value };
  if (Array.isArray(value)) return { L: value.map(attributeOf) };
  return typeof value === "object" && value !== null ? { M: mapOf(value) } : { NULL: true };
}

/** A message as Lambda's event has it (AWS Lambda Developer Guide, "Using Lambda with Amazon SQS"). */
export const queueRecord = ({ messageId, body, receiptHandle, receiveCount, sentAt }: ReceivedMessage): SQSRecord => ({
  messageId,
  body,
  receiptHandle,
  attributes: {
    ApproximateReceiveCount: String(receiveCount),
    SentTimestamp: String(sentAt),
    SenderId: "simulated",
    ApproximateFirstReceiveTimestamp: String(sentAt),
  },
  messageAttributes: {},
  md5OfBody: "",
  eventSource: "aws:sqs",
  eventSourceARN: "simulated",
  awsRegion: "simulated",
});
