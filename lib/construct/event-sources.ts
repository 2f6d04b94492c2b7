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
import type { ConsumerPlan } from "./queue-plan.ts";

/** Records of one invocation at most: a busy stream is read in few invocations, and halving still ends soon. */
const STREAM_BATCH_SIZE = 100;

/** How often a batch of stream records is tried, halved each time, before its records are given up. */
const STREAM_RETRIES = 10;

/** How old a record may get: less than the 24 hours that DynamoDB Streams keeps it. */
const STREAM_RECORD_AGE_MAX = Duration.hours(12);

/** The tables whose streams feed functions. */
export interface Sources {
  readonly schedules: TableV2;
  readonly occurrences: TableV2;
  readonly failureQueue: IQueue;
  readonly announce: readonly OptionalAnnouncement[];
}

/** Connects a queue with its consumer. */
export const consumeQueue = (
  consumer: IFunction,
  queue: IQueue,
  { batchSize, maxConcurrency }: Pick<ConsumerPlan, "batchSize" | "maxConcurrency">,
): void =>
  consumer.addEventSource(
    // Never with a filter: what does not match one is deleted.
    new SqsEventSource(queue, {
      batchSize,
      reportBatchItemFailures: true,
      ...(maxConcurrency !== undefined && { maxConcurrency }),
    }),
  );

/** Connects the tables' streams with reconciler and notifier. */
export function connectStreams(
  { reconciler, notifier }: Pick<Functions, "reconciler" | "notifier">,
  { schedules, occurrences, failureQueue, announce }: Sources,
): void {
  const failed = new SqsDlq(failureQueue);
  readStream(reconciler, "Schedules", schedules, { onFailure: failed });
  readStream(reconciler, "Occurrences", occurrences, {
    onFailure: failed,
    filters: settlingChanges().map((pattern) => FilterCriteria.filter(pattern)),
  });
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

/**
 * The changes of a row that call for a reconcile of its schedule: a run after which it has ended, or wants to be gone, was
 * taken or is over; or a firing was passed over because it is paused or disabled, and its successor must not be.
 */
function settlingChanges(): readonly Record<string, unknown>[] {
  return [
    { dynamodb: { NewImage: { ...statusIn(["DISPATCHED", ...TERMINAL_STATUSES]), settles: { BOOL: [true] } } } },
    { dynamodb: { NewImage: { ...statusIn(["SKIPPED"]), skipReason: { S: ["paused", "disabled"] } } } },
  ];
}

const became = (from: readonly OccurrenceStatus[], to: readonly OccurrenceStatus[]) => ({
  eventName: ["MODIFY"],
  dynamodb: { OldImage: statusIn(from), NewImage: statusIn(to) },
});

const statusIn = (statuses: readonly OccurrenceStatus[]) => ({ status: { S: [...statuses] } });
