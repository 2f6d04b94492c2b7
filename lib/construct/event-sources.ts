import { Duration } from "aws-cdk-lib";
import type { TableV2 } from "aws-cdk-lib/aws-dynamodb";
import {
  type EventSourceMappingOptions,
  FilterCriteria,
  type IFunction,
  StartingPosition,
} from "aws-cdk-lib/aws-lambda";
import { SqsDlq, SqsEventSource } from "aws-cdk-lib/aws-lambda-event-sources";
import type { IQueue } from "aws-cdk-lib/aws-sqs";
import { type OccurrenceStatus, TERMINAL_STATUSES, UNFINISHED_STATUSES } from "../core/occurrence.ts";
import type { OptionalAnnouncement } from "../runtime/env.ts";
import type { Functions } from "./functions.ts";

/** The most messages of one invocation (AWS Lambda Developer Guide, "Amazon SQS event source": 10 for FIFO queues). */
const FIFO_BATCH_MAX = 10;

/** Records of one invocation at most: a busy stream is read in few invocations, and halving still ends soon. */
const STREAM_BATCH_SIZE = 100;

/** How often a batch of stream records is tried, halved each time, before its records are given up. */
const STREAM_RETRIES = 10;

/** How old a record may get: less than the 24 hours that DynamoDB Streams keeps it. */
const STREAM_RECORD_AGE_MAX = Duration.hours(12);

/** What feeds the functions. */
export interface Sources {
  readonly queue: IQueue;
  readonly schedules: TableV2;
  readonly occurrences: TableV2;
  readonly failureQueue: IQueue;
  readonly announce: readonly OptionalAnnouncement[];
  readonly consumerMaxConcurrency?: number;
}

/** Connects the queue with the consumer and the tables' streams with reconciler and notifier. */
export function connectSources({ consumer, reconciler, notifier }: Functions, sources: Sources): void {
  const { queue, schedules, occurrences, failureQueue, announce, consumerMaxConcurrency } = sources;
  consumer.addEventSource(
    // Never with a filter: what does not match one is deleted.
    new SqsEventSource(queue, {
      batchSize: FIFO_BATCH_MAX,
      reportBatchItemFailures: true,
      ...(consumerMaxConcurrency !== undefined && { maxConcurrency: consumerMaxConcurrency }),
    }),
  );
  const failed = new SqsDlq(failureQueue);
  readStream(reconciler, "Schedules", schedules, { onFailure: failed });
  readStream(notifier, "Occurrences", occurrences, {
    onFailure: failed,
    filters: announcedChanges(announce).map((pattern) => FilterCriteria.filter(pattern)),
  });
}

/** By the mapping itself: `DynamoEventSource` does not take a `TableV2` under `exactOptionalPropertyTypes`. */
function readStream(
  reader: IFunction,
  id: string,
  table: TableV2,
  options: Pick<EventSourceMappingOptions, "onFailure" | "filters">,
): void {
  table.grantStreamRead(reader);
  reader.addEventSourceMapping(id, {
    ...options,
    ...(table.tableStreamArn !== undefined && { eventSourceArn: table.tableStreamArn }),
    batchSize: STREAM_BATCH_SIZE,
    startingPosition: StartingPosition.TRIM_HORIZON,
    // A poison record must not block its shard: it is found by halving, tried a few times, and set aside.
    bisectBatchOnError: true,
    reportBatchItemFailures: true,
    retryAttempts: STREAM_RETRIES,
    maxRecordAge: STREAM_RECORD_AGE_MAX,
  });
}

/**
 * The changes of a row that are announced, as filters of the stream: a row born finished, one that was not finished and now
 * is, and, where asked for, starts and retries. An edit of a finished row is none: it would be announced once more.
 */
function announcedChanges(announce: readonly OptionalAnnouncement[]): readonly Record<string, unknown>[] {
  const ends = TERMINAL_STATUSES.filter((status) => status !== "SUCCEEDED" || announce.includes("succeeded"));
  return [
    { eventName: ["INSERT"], dynamodb: { NewImage: statusIn(ends) } },
    became(UNFINISHED_STATUSES, ends),
    ...(announce.includes("started") ? [became(["DISPATCHED"], ["RUNNING"])] : []),
    ...(announce.includes("retrying") ? [became(["RUNNING"], ["RETRYING"])] : []),
  ];
}

const became = (from: readonly OccurrenceStatus[], to: readonly OccurrenceStatus[]) => ({
  eventName: ["MODIFY"],
  dynamodb: { OldImage: statusIn(from), NewImage: statusIn(to) },
});

const statusIn = (statuses: readonly OccurrenceStatus[]) => ({ status: { S: [...statuses] } });
