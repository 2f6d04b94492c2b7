import { BatchGetItemCommand } from "@aws-sdk/client-dynamodb";
import { mapBounded } from "../../app/bounded.ts";
import { MalformedRowError, StoreError } from "../../app/errors.ts";
import type { ReadVerdict } from "../../app/ports.ts";
import { pause } from "../../runtime/pause.ts";
import type { Item } from "./attribute-value.ts";
import { chunked } from "./chunks.ts";
import type { Mapped } from "./mapping.ts";
import { storeError } from "./outcome.ts";
import { DEFAULT_CONCURRENCY, type DynamoDbStoreOptions } from "./settings.ts";

/** Keys in one request (Amazon DynamoDB API Reference, BatchGetItem: "as many as 100 items"). */
const GET_BATCH_MAX = 100;

/** How often what DynamoDB left unprocessed (throttling, more than 16 MB) is asked for again, and the first wait. */
const UNPROCESSED_TRIES = 5;
const UNPROCESSED_PAUSE_MS = 25;

/** How one table's rows are read: its keys as attributes, any item's key as text, and its items as rows. */
export interface ReadPlan<Key, Row> {
  readonly tableName: string;
  readonly attributesOf: (key: Key) => Item;
  readonly textOf: (item: Item) => string;
  readonly map: (item: Item) => Mapped<Row>;
}

/**
 * Reads rows by key, consistently, and answers each key in order. A key may be asked for twice. Never throws: a request's
 * failure is the answer of its keys.
 */
export async function batchGet<Key, Row>(
  options: DynamoDbStoreOptions,
  plan: ReadPlan<Key, Row>,
  keys: readonly Key[],
): Promise<ReadVerdict<Row>[]> {
  const wanted = keys.map(plan.attributesOf);
  const distinct = new Map(wanted.map((key) => [plan.textOf(key), key]));
  const verdicts = await mapBounded(
    chunked([...distinct.values()], GET_BATCH_MAX),
    options.concurrency ?? DEFAULT_CONCURRENCY,
    (chunk) => getChunk(options, plan, chunk),
  );
  const found = new Map(verdicts.flat());
  return wanted.map((key) => found.get(plan.textOf(key)) ?? { kind: "missing" });
}

/** Reads up to 100 keys; an entry for every one that is not missing. */
async function getChunk<Key, Row>(
  options: DynamoDbStoreOptions,
  plan: ReadPlan<Key, Row>,
  keys: readonly Item[],
): Promise<[string, ReadVerdict<Row>][]> {
  const verdicts: [string, ReadVerdict<Row>][] = [];
  let pending = keys;
  try {
    for (let tries = 0; pending.length > 0; tries += 1) {
      if (tries === UNPROCESSED_TRIES) throw new StoreError(`DynamoDB left keys unprocessed ${tries} times`);
      if (tries > 0) await (options.pause ?? pause)(UNPROCESSED_PAUSE_MS * 2 ** (tries - 1));
      const { Responses, UnprocessedKeys } = await options.client.send(
        new BatchGetItemCommand({ RequestItems: { [plan.tableName]: { Keys: [...pending], ConsistentRead: true } } }),
      );
      for (const item of Responses?.[plan.tableName] ?? [])
        verdicts.push([plan.textOf(item), verdictOf(plan.map(item))]);
      pending = UnprocessedKeys?.[plan.tableName]?.Keys ?? [];
    }
  } catch (thrown) {
    const error = storeError(thrown);
    for (const key of pending) verdicts.push([plan.textOf(key), { kind: "failed", error }]);
  }
  return verdicts;
}

const verdictOf = <Row>(mapped: Mapped<Row>): ReadVerdict<Row> =>
  mapped.kind === "row" ? { kind: "found", row: mapped.row } : { kind: "failed", error: mapped.error };

/** The rows that `verdicts` found. A missing row is left out; one that cannot be read is reported; a request that failed throws. */
export const rowsOf = <Row>({ logger }: DynamoDbStoreOptions, verdicts: readonly ReadVerdict<Row>[]): Row[] =>
  verdicts.flatMap((verdict) => {
    if (verdict.kind === "found") return [verdict.row];
    if (verdict.kind === "missing") return [];
    if (!(verdict.error instanceof MalformedRowError)) throw verdict.error;
    logger.error("row left out of a page", { error: verdict.error.message });
    return [];
  });
