import { QueryCommand, type QueryCommandOutput } from "@aws-sdk/client-dynamodb";
import type { OccurrenceStore, Page, ReadVerdict } from "../../app/ports.ts";
import { FIRST_FIRING } from "../../app/reserved.ts";
import { type DueRow, formatKey, type Occurrence, type OccurrenceKey } from "../../core/occurrence.ts";
import { DEAD_LETTER_INDEX, DUE_INDEX } from "../../runtime/names.ts";
import { itemFrom } from "./attribute-value.ts";
import { batchGet, type ReadPlan, rowsOf } from "./batch-get.ts";
import { dueRowFrom, occurrenceFrom, occurrenceKeyFrom } from "./mapping.ts";
import { orStoreError } from "./outcome.ts";
import { queryPage } from "./pages.ts";
import type { DynamoDbStoreOptions } from "./settings.ts";

const plan = ({ occurrencesTable }: DynamoDbStoreOptions): ReadPlan<OccurrenceKey, Occurrence> => ({
  tableName: occurrencesTable,
  attributesOf: ({ scheduleId, firing }) => itemFrom({ scheduleId, firing }),
  textOf: (item) => formatKey({ scheduleId: item["scheduleId"]?.S ?? "", firing: item["firing"]?.S ?? "" }),
  map: occurrenceFrom,
});

/** Rows by key, consistently. */
export const readOccurrences = (
  options: DynamoDbStoreOptions,
  keys: readonly OccurrenceKey[],
): Promise<ReadVerdict<Occurrence>[]> => batchGet(options, plan(options), keys);

/** What a dispatcher must look at, oldest first: no lower bound, or what was left behind would never be found. */
export const due = (
  options: DynamoDbStoreOptions,
  { shard, until, limit, cursor }: Parameters<OccurrenceStore["due"]>[0],
): Promise<Page<DueRow>> => {
  const query = {
    TableName: options.occurrencesTable,
    IndexName: DUE_INDEX,
    KeyConditionExpression: "#shard = :shard AND #dueAt <= :until",
    ExpressionAttributeNames: { "#shard": "shard", "#dueAt": "dueAt" },
    ExpressionAttributeValues: itemFrom({ ":shard": shard, ":until": until }),
    Limit: limit,
  };
  return queryPage(options, query, cursor, dueRowFrom);
};

/** A schedule's own rows by firing, consistently, without the internal ones. */
export async function history(
  options: DynamoDbStoreOptions,
  { scheduleId, from, to, newestFirst, limit, statuses, cursor }: Parameters<OccurrenceStore["history"]>[0],
): Promise<Page<Occurrence>> {
  // Internal rows sort before every firing: the bound leaves them out without reading them.
  const lowest = from === undefined || from < FIRST_FIRING ? FIRST_FIRING : from;
  if (to !== undefined && to < lowest) return { rows: [] };
  const wanted = statuses?.map((status, index) => [`:status${index}`, status] as const);
  const values = { ":scheduleId": scheduleId, ":from": lowest, ":to": to, ...Object.fromEntries(wanted ?? []) };
  const query = {
    TableName: options.occurrencesTable,
    KeyConditionExpression: `#scheduleId = :scheduleId AND ${to === undefined ? "#firing >= :from" : "#firing BETWEEN :from AND :to"}`,
    ...(wanted && { FilterExpression: `#status IN (${wanted.map(([name]) => name).join(", ")})` }),
    ExpressionAttributeNames: {
      "#scheduleId": "scheduleId",
      "#firing": "firing",
      ...(wanted && { "#status": "status" }),
    },
    ExpressionAttributeValues: itemFrom(values),
    ScanIndexForward: !newestFirst,
    ConsistentRead: true,
    Limit: limit,
  };
  return queryPage(options, query, cursor, occurrenceFrom);
}

const deadLettersOf = ({ occurrencesTable }: DynamoDbStoreOptions, shard: number) => ({
  TableName: occurrencesTable,
  IndexName: DEAD_LETTER_INDEX,
  KeyConditionExpression: "#shard = :shard",
  ExpressionAttributeNames: { "#shard": "deadLetterShard" },
  ExpressionAttributeValues: itemFrom({ ":shard": shard }),
});

/** Open dead letters of a shard, newest first, each as the table (not the index) has it. */
export async function deadLetters(
  options: DynamoDbStoreOptions,
  { shard, limit, cursor }: Parameters<OccurrenceStore["deadLetters"]>[0],
): Promise<Page<Occurrence>> {
  const query = { ...deadLettersOf(options, shard), ScanIndexForward: false, Limit: limit };
  const { rows: keys, ...more } = await queryPage(options, query, cursor, occurrenceKeyFrom);
  const found = rowsOf(options, await readOccurrences(options, keys));
  // The index is stale where the row was replayed, discarded or expired meanwhile.
  return { rows: found.filter((row) => row.deadLetterShard === shard), ...more };
}

/** How many dead letters the index has of a shard, up to `limit`. Throws `StoreError`. */
export async function countDeadLetters(
  options: DynamoDbStoreOptions,
  { shard, limit }: Parameters<OccurrenceStore["countDeadLetters"]>[0],
): Promise<number> {
  let counted = 0;
  let from: QueryCommandOutput["LastEvaluatedKey"];
  // Every page but the last holds a row at least, since nothing is filtered.
  do {
    const query = { ...deadLettersOf(options, shard), Select: "COUNT", Limit: limit - counted } as const;
    const command = new QueryCommand({ ...query, ...(from && { ExclusiveStartKey: from }) });
    const { Count = 0, LastEvaluatedKey } = await orStoreError(options.client.send(command));
    counted += Count;
    from = Count === 0 ? undefined : LastEvaluatedKey;
  } while (from !== undefined && counted < limit);
  return counted;
}
