import type { Message, MessageAttributeValue } from "@aws-sdk/client-sqs";
import type { SQSMessageAttribute, SQSRecord } from "aws-lambda";
import * as z from "zod";
import type { LocalQueue } from "../template/queues.ts";

const received = z.object({
  MessageId: z.string(),
  ReceiptHandle: z.string(),
  Body: z.string(),
  MD5OfBody: z.string(),
  MD5OfMessageAttributes: z.string().optional(),
  Attributes: z
    .object({
      ApproximateReceiveCount: z.string(),
      SentTimestamp: z.string(),
      SenderId: z.string(),
      ApproximateFirstReceiveTimestamp: z.string(),
      SequenceNumber: z.string().optional(),
      MessageGroupId: z.string().optional(),
      MessageDeduplicationId: z.string().optional(),
      DeadLetterQueueSourceArn: z.string().optional(),
    })
    .loose(),
});

/** A received message as Lambda hands it to a function (Lambda Developer Guide, "Example Amazon SQS message event"). */
export function toSqsRecord(message: Message, queue: LocalQueue, awsRegion: string): SQSRecord {
  const { MD5OfMessageAttributes, ...fields } = received.parse(message);
  const attributes = Object.entries(message.MessageAttributes ?? {});
  return {
    messageId: fields.MessageId,
    receiptHandle: fields.ReceiptHandle,
    body: fields.Body,
    md5OfBody: fields.MD5OfBody,
    ...(MD5OfMessageAttributes !== undefined && { md5OfMessageAttributes: MD5OfMessageAttributes }),
    attributes: fields.Attributes,
    messageAttributes: Object.fromEntries(attributes.map(([name, value]) => [name, toAttribute(value)])),
    eventSource: "aws:sqs",
    eventSourceARN: queue.arn,
    awsRegion,
  };
}

const toAttribute = ({ DataType, StringValue, BinaryValue }: MessageAttributeValue): SQSMessageAttribute => ({
  dataType: DataType ?? "String",
  ...(StringValue !== undefined && { stringValue: StringValue }),
  ...(BinaryValue !== undefined && { binaryValue: Buffer.from(BinaryValue).toString("base64") }),
  stringListValues: [],
  binaryListValues: [],
});
