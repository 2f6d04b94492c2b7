import {
  BatchExecuteStatementCommand,
  BatchGetItemCommand,
  type BatchStatementResponse,
  ConditionalCheckFailedException,
  DynamoDBClient,
  DynamoDBServiceException,
} from "@aws-sdk/client-dynamodb";
import { mockClient } from "aws-sdk-client-mock";
import { itemFrom } from "../../../lib/adapters/dynamodb/attribute-value.ts";
import { createOccurrenceStore } from "../../../lib/adapters/dynamodb/occurrences.ts";
import { createScheduleStore } from "../../../lib/adapters/dynamodb/schedules.ts";
import type { Occurrence } from "../../../lib/core/occurrence.ts";

/** Both stores on a stubbed client, with what they logged and how long they paused. */
export function stubbedStores() {
  const client = new DynamoDBClient({ region: "eu-west-1" });
  const dynamodb = mockClient(client);
  const logged: string[] = [];
  const pausesMs: number[] = [];
  const options = {
    client,
    schedulesTable: "Schedules",
    occurrencesTable: "Occurrences",
    logger: { error: (message: string, fields?: object) => void logged.push(`${message}: ${JSON.stringify(fields)}`) },
    pause: async (delayMs: number) => void pausesMs.push(delayMs),
  };
  return {
    occurrences: createOccurrenceStore(options),
    schedules: createScheduleStore(options),
    dynamodb,
    logged,
    pausesMs,
    /** The inputs of every batch of statements sent. */
    batches: () =>
      dynamodb.commandCalls(BatchExecuteStatementCommand).map((call) => call.args[0].input.Statements ?? []),
    /** The keys of every batch of reads sent. */
    reads: () => dynamodb.commandCalls(BatchGetItemCommand).map((call) => call.args[0].input.RequestItems ?? {}),
  };
}

/** A statement's answer: the row as it stands, or an error of this code. */
export const applied = (row: Occurrence): BatchStatementResponse => ({ TableName: "Occurrences", Item: itemFrom(row) });
export const failed = (code: NonNullable<BatchStatementResponse["Error"]>["Code"]): BatchStatementResponse => ({
  Error: { Code: code, Message: "said DynamoDB" },
});

/** An answer's metadata, as the SDK adds it. */
export const metadata = (attempts = 1, httpStatusCode = 200) => ({ $metadata: { attempts, httpStatusCode } });

/** An error that DynamoDB answered with. */
export const serviceError = (name: string, httpStatusCode: number, attempts = 1): DynamoDBServiceException =>
  new DynamoDBServiceException({
    name,
    message: "said DynamoDB",
    $fault: httpStatusCode < 500 ? "client" : "server",
    ...metadata(attempts, httpStatusCode),
  });

/** A condition of a single write that did not hold. */
export const conditionFailed = (attempts = 1) =>
  new ConditionalCheckFailedException({ message: "the condition failed", ...metadata(attempts, 400) });
