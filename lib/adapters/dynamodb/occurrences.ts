import type { BatchStatementRequest } from "@aws-sdk/client-dynamodb";
import type { InsertVerdict, OccurrenceStore, RemovalVerdict, WriteVerdict } from "../../app/ports.ts";
import { formatKey, type OccurrenceKey } from "../../core/occurrence.ts";
import { deleteStatement, insertStatement, updateStatement } from "./conditions.ts";
import { passGates, readGates } from "./gates.ts";
import { shardHighWater } from "./high-water.ts";
import { occurrenceFrom } from "./mapping.ts";
import { countDeadLetters, deadLetters, due, history, readOccurrences } from "./occurrence-reads.ts";
import { removeHead } from "./remove-head.ts";
import { DEFAULT_CONCURRENCY, type DynamoDbStoreOptions } from "./settings.ts";
import { executeStatements, type StatementAnswer } from "./statements.ts";
import { readSweepCursor, writeSweepCursor } from "./sweep-cursor.ts";

/** The Occurrences table in DynamoDB. Pages throw `StoreError` when a request fails; batches answer per item and never throw. */
export const createOccurrenceStore = (options: DynamoDbStoreOptions): OccurrenceStore => ({
  insert: (rows) => execute(options, rows, (row) => row, insertStatement, insertVerdict),
  write: (writes) => execute(options, writes, ({ key }) => key, updateStatement, writeVerdict),
  remove: (removals) => execute(options, removals, ({ key }) => key, deleteStatement, removalVerdict),
  read: (keys) => readOccurrences(options, keys),
  due: (query) => due(options, query),
  history: (query) => history(options, query),
  deadLetters: (query) => deadLetters(options, query),
  countDeadLetters: (query) => countDeadLetters(options, query),
  removeHead: (head, scheduleAsRead) => removeHead(options, head, scheduleAsRead),
  readGates: (scheduleIds) => readGates(options, scheduleIds),
  passGates: (passages) => passGates(options, passages),
  shardHighWater: (shards) => shardHighWater(options, shards),
  readSweepCursor: () => readSweepCursor(options),
  writeSweepCursor: (cursor) => writeSweepCursor(options, cursor),
});

/** Executes a statement for each of `items`, and answers for each. */
async function execute<Item, Verdict>(
  { client, occurrencesTable, concurrency = DEFAULT_CONCURRENCY }: DynamoDbStoreOptions,
  items: readonly Item[],
  keyOf: (item: Item) => OccurrenceKey,
  statementOf: (tableName: string, item: Item) => BatchStatementRequest,
  verdictOf: (answer: StatementAnswer) => Verdict,
): Promise<Verdict[]> {
  const statements = items.map((item) => ({
    key: formatKey(keyOf(item)),
    request: statementOf(occurrencesTable, item),
  }));
  return (await executeStatements(client, statements, concurrency)).map(verdictOf);
}

function insertVerdict(answer: StatementAnswer): InsertVerdict {
  if (answer.kind === "done") return { kind: "inserted" };
  // An INSERT carries no condition of ours: whatever was refused, nothing was inserted.
  return answer.kind === "exists" ? { kind: "exists" } : failure(answer);
}

function writeVerdict(answer: StatementAnswer): WriteVerdict {
  if (answer.kind !== "done") return answer.kind === "refused" ? { kind: "refused" } : failure(answer);
  const mapped = occurrenceFrom(answer.item ?? {});
  // It took effect, but nobody can say on what: whoever asked must look again.
  return mapped.kind === "row" ? { kind: "applied", row: mapped.row } : { kind: "unknown", error: mapped.error };
}

function removalVerdict(answer: StatementAnswer): RemovalVerdict {
  if (answer.kind === "done") return { kind: "removed" };
  return answer.kind === "refused" ? { kind: "refused" } : failure(answer);
}

/** Nothing was written, or nobody knows. */
const failure = ({ kind, error }: Exclude<StatementAnswer, { kind: "done" }>) =>
  kind === "unknown" ? ({ kind, error } as const) : ({ kind: "failed", error } as const);
