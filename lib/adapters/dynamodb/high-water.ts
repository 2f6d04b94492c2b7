import { ConditionalCheckFailedException, GetItemCommand, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { HIGH_WATER_KEY } from "../../app/reserved.ts";
import { fromPlain, itemFrom, plainItem } from "./attribute-value.ts";
import { orStoreError } from "./outcome.ts";
import type { DynamoDbStoreOptions } from "./settings.ts";

/** The most shards ever in use, at least `shards`, which is recorded if it is the most. Throws `StoreError` when a request fails. */
export async function shardHighWater(options: DynamoDbStoreOptions, shards: number): Promise<number> {
  const standing = await readCount(options);
  if (standing >= shards) return standing;
  try {
    await options.client.send(
      new UpdateItemCommand({
        TableName: options.occurrencesTable,
        Key: itemFrom(HIGH_WATER_KEY),
        UpdateExpression: "SET #count = :shards",
        ConditionExpression: "attribute_not_exists(#count) OR #count < :shards",
        ExpressionAttributeNames: { "#count": "count" },
        ExpressionAttributeValues: { ":shards": fromPlain(shards) },
      }),
    );
    return shards;
  } catch (thrown) {
    if (!(thrown instanceof ConditionalCheckFailedException)) return orStoreError(Promise.reject(thrown));
    // Somebody recorded as much or more in between.
    return Math.max(shards, await readCount(options));
  }
}

async function readCount(options: DynamoDbStoreOptions): Promise<number> {
  const { Item = {} } = await orStoreError(options.client.send(highWaterRequest(options.occurrencesTable)));
  const { count } = plainItem(Item);
  return typeof count === "number" ? count : 0;
}

/** A read of one small row that may be missing: what every invocation asks first, and the cheapest way to hear from DynamoDB. */
export const highWaterRequest = (occurrencesTable: string): GetItemCommand =>
  new GetItemCommand({ TableName: occurrencesTable, Key: itemFrom(HIGH_WATER_KEY), ConsistentRead: true });
