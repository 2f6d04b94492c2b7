import { randomUUID } from "node:crypto";
import { SendMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";
import type { StreamSource } from "../template/event-sources.ts";
import type { LocalFunction } from "../template/functions.ts";
import type { ShardRecord } from "./stream-event.ts";

/** The records that were given up, and where they were read. */
export interface GivenUp {
  readonly records: readonly ShardRecord[];
  readonly tries: number;
  readonly shardId: string;
  readonly nowIso: string;
}

/** What Lambda tells an on-failure destination: where the records are, not what they are (Lambda Developer Guide, "Configuring destinations for failed invocations"). */
function failureMetadata(source: StreamSource, target: LocalFunction, givenUp: GivenUp): unknown {
  const { records, tries, shardId, nowIso } = givenUp;
  const [first, last] = [records[0], records.at(-1)];
  return {
    requestContext: {
      requestId: randomUUID(),
      functionArn: target.arn,
      condition: "RetryAttemptsExhausted",
      approximateInvokeCount: tries,
    },
    responseContext: { statusCode: 200, executedVersion: "$LATEST", functionError: "Unhandled" },
    version: "1.0",
    timestamp: nowIso,
    DDBStreamBatchInfo: {
      shardId,
      startSequenceNumber: first?.sequenceNumber,
      endSequenceNumber: last?.sequenceNumber,
      approximateArrivalOfFirstRecord: arrival(first),
      approximateArrivalOfLastRecord: arrival(last),
      batchSize: records.length,
      streamArn: source.streamArn,
    },
  };
}

/** Sends {@link failureMetadata} to the source's on-failure queue, where it has one. */
export async function sendToFailureQueue(
  client: SQSClient,
  source: StreamSource,
  target: LocalFunction,
  givenUp: GivenUp,
): Promise<void> {
  if (!source.onFailureQueue) return;
  const MessageBody = JSON.stringify(failureMetadata(source, target, givenUp));
  await client.send(new SendMessageCommand({ QueueUrl: source.onFailureQueue.url, MessageBody }));
}

function arrival(record: ShardRecord | undefined): string | undefined {
  const seconds = record?.record.dynamodb?.ApproximateCreationDateTime;
  return seconds === undefined ? undefined : new Date(seconds * 1_000).toISOString();
}
