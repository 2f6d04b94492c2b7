import {
  type CancellationReason,
  TransactionCanceledException,
  type TransactWriteItem,
  TransactWriteItemsCommand,
} from "@aws-sdk/client-dynamodb";
import type { ScheduleItem } from "../../app/ports.ts";
import type { DueRow } from "../../core/occurrence.ts";
import { asReadCondition } from "./as-read.ts";
import { fromPlain } from "./attribute-value.ts";
import { orStoreError } from "./outcome.ts";
import type { DynamoDbStoreOptions } from "./settings.ts";

/** The reasons that mean "somebody else was there", as against a fault (Amazon DynamoDB API Reference, TransactWriteItems). */
const LOST_RACES: readonly (string | undefined)[] = ["ConditionalCheckFailed", "TransactionConflict"];

/**
 * Removes a head while its schedule is as it was read, both or neither. The SDK sends a token that makes its own retry
 * harmless, so "refused" is certain. Throws `StoreError` when the request fails for any other reason.
 */
export async function removeHead(
  options: DynamoDbStoreOptions,
  head: DueRow,
  scheduleAsRead: ScheduleItem | undefined,
): Promise<"removed" | "refused"> {
  const command = new TransactWriteItemsCommand({
    TransactItems: [scheduleCheck(options, head, scheduleAsRead), headDelete(options, head)],
  });
  try {
    await options.client.send(command);
    return "removed";
  } catch (thrown) {
    if (thrown instanceof TransactionCanceledException && (thrown.CancellationReasons ?? []).some(isLostRace))
      return "refused";
    return orStoreError(Promise.reject(thrown));
  }
}

const isLostRace = ({ Code }: CancellationReason): boolean => LOST_RACES.includes(Code);

const scheduleCheck = (
  { schedulesTable }: DynamoDbStoreOptions,
  { scheduleId }: DueRow,
  asRead: ScheduleItem | undefined,
): TransactWriteItem => ({
  ConditionCheck: {
    TableName: schedulesTable,
    Key: { scheduleId: { S: scheduleId } },
    ...asReadCondition(asRead),
  },
});

/** Only a head, never claimed, that falls due when it was seen to. */
const headDelete = ({ occurrencesTable }: DynamoDbStoreOptions, head: DueRow): TransactWriteItem => ({
  Delete: {
    TableName: occurrencesTable,
    Key: { scheduleId: { S: head.scheduleId }, firing: { S: head.firing } },
    ConditionExpression: "#status = :pending AND #kind = :scheduled AND #token = :zero AND #dueAt = :dueAt",
    ExpressionAttributeNames: { "#status": "status", "#kind": "kind", "#token": "fencingToken", "#dueAt": "dueAt" },
    ExpressionAttributeValues: {
      ":pending": { S: "PENDING" },
      ":scheduled": { S: "scheduled" },
      ":zero": { N: "0" },
      // A row without a due time is no head: the null, which no due time equals, has the condition say so.
      ":dueAt": fromPlain(head.dueAt ?? null),
    },
  },
});
