import { DeleteItemCommand, GetItemCommand, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { SWEEP_KEY } from "../../app/reserved.ts";
import { itemFrom, plainItem } from "./attribute-value.ts";
import { orStoreError } from "./outcome.ts";
import type { DynamoDbStoreOptions } from "./settings.ts";

/** Where the last sweep stopped, consistently. Throws `StoreError` when the request fails. */
export async function readSweepCursor({ client, occurrencesTable }: DynamoDbStoreOptions): Promise<string | undefined> {
  const command = new GetItemCommand({ TableName: occurrencesTable, Key: itemFrom(SWEEP_KEY), ConsistentRead: true });
  const { Item = {} } = await orStoreError(client.send(command));
  const { cursor } = plainItem(Item);
  return typeof cursor === "string" ? cursor : undefined;
}

/** Keeps where a sweep stopped; `undefined` forgets it. Throws `StoreError` when the request fails. */
export async function writeSweepCursor(
  { client, occurrencesTable }: DynamoDbStoreOptions,
  cursor: string | undefined,
): Promise<void> {
  const row = { TableName: occurrencesTable, Key: itemFrom(SWEEP_KEY) };
  if (cursor === undefined) {
    await orStoreError(client.send(new DeleteItemCommand(row)));
    return;
  }
  await orStoreError(
    client.send(
      new UpdateItemCommand({
        ...row,
        UpdateExpression: "SET #cursor = :cursor",
        ExpressionAttributeNames: { "#cursor": "cursor" },
        ExpressionAttributeValues: itemFrom({ ":cursor": cursor }),
      }),
    ),
  );
}
