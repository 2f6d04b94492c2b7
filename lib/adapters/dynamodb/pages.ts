import { QueryCommand, type QueryCommandInput, type QueryCommandOutput } from "@aws-sdk/client-dynamodb";
import { InvalidCursorError } from "../../app/errors.ts";
import type { Page } from "../../app/ports.ts";
import type { Item } from "./attribute-value.ts";
import { cursorFrom, positionOf } from "./cursor.ts";
import type { Mapped } from "./mapping.ts";
import { storeError } from "./outcome.ts";
import type { DynamoDbStoreOptions } from "./settings.ts";

/** What a cursor adds to a query or scan. */
export const startingAt = (cursor: string | undefined): { ExclusiveStartKey?: Item } =>
  cursor === undefined ? {} : { ExclusiveStartKey: positionOf(cursor) };

/** One page of a query, mapped. Throws `StoreError` when the request fails, `InvalidCursorError` for a cursor not of its making. */
export async function queryPage<Row>(
  options: DynamoDbStoreOptions,
  query: QueryCommandInput,
  cursor: string | undefined,
  map: (item: Item) => Mapped<Row>,
): Promise<Page<Row>> {
  const command = new QueryCommand({ ...query, ...startingAt(cursor) });
  return pageOf(options, await pageAnswer(options.client.send(command), cursor), map);
}

/**
 * The answer to a query or scan. A cursor of the right form that names no position of this table or index is refused as a
 * whole (Amazon DynamoDB, ValidationException: "The provided starting key is invalid"): `InvalidCursorError`. Throws
 * `StoreError` for anything else.
 */
export async function pageAnswer<Answer>(request: Promise<Answer>, cursor: string | undefined): Promise<Answer> {
  try {
    return await request;
  } catch (thrown) {
    if (cursor !== undefined && thrown instanceof Error && thrown.name === "ValidationException")
      throw new InvalidCursorError(cursor, { cause: thrown });
    throw storeError(thrown);
  }
}

/** The rows of an answer; one that cannot be read is reported and left out, so that it does not hide its neighbours. */
export function pageOf<Row>(
  { logger }: DynamoDbStoreOptions,
  { Items = [], LastEvaluatedKey }: Pick<QueryCommandOutput, "Items" | "LastEvaluatedKey">,
  map: (item: Item) => Mapped<Row>,
): Page<Row> {
  const rows = Items.flatMap((item) => {
    const mapped = map(item);
    if (mapped.kind === "row") return [mapped.row];
    logger.error("row left out of a page", { error: mapped.error.message });
    return [];
  });
  return LastEvaluatedKey === undefined ? { rows } : { rows, cursor: cursorFrom(LastEvaluatedKey) };
}
