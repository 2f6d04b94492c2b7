import type {
  InsertVerdict,
  OccurrenceRemoval,
  OccurrenceStore,
  OccurrenceWrite,
  RemovalVerdict,
  WriteVerdict,
} from "../../app/ports.ts";
import { formatKey, type Occurrence } from "../../core/occurrence.ts";
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
  insert: (rows) => insert(options, rows),
  write: (writes) => write(options, writes),
  remove: (removals) => remove(options, removals),
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

async function insert(options: DynamoDbStoreOptions, rows: readonly Occurrence[]): Promise<InsertVerdict[]> {
  const statements = rows.map((row) => ({
    key: formatKey(row),
    request: insertStatement(options.occurrencesTable, row),
  }));
  const answers = await executeStatements(options.client, statements, options.concurrency ?? DEFAULT_CONCURRENCY);
  return answers.map(insertVerdict);
}

async function write(options: DynamoDbStoreOptions, writes: readonly OccurrenceWrite[]): Promise<WriteVerdict[]> {
  const statements = writes.map((one) => ({
    key: formatKey(one.key),
    request: updateStatement(options.occurrencesTable, one),
  }));
  const answers = await executeStatements(options.client, statements, options.concurrency ?? DEFAULT_CONCURRENCY);
  return answers.map(writeVerdict);
}

async function remove(
  options: DynamoDbStoreOptions,
  removals: readonly OccurrenceRemoval[],
): Promise<RemovalVerdict[]> {
  const statements = removals.map((one) => ({
    key: formatKey(one.key),
    request: deleteStatement(options.occurrencesTable, one),
  }));
  const answers = await executeStatements(options.client, statements, options.concurrency ?? DEFAULT_CONCURRENCY);
  return answers.map(removalVerdict);
}

function removalVerdict(answer: StatementAnswer): RemovalVerdict {
  switch (answer.kind) {
    case "done":
      return { kind: "removed" };
    case "refused":
      return { kind: "refused" };
    case "exists":
    case "failed":
      return { kind: "failed", error: answer.error };
    case "unknown":
      return { kind: "unknown", error: answer.error };
    default:
      return answer satisfies never;
  }
}

function insertVerdict(answer: StatementAnswer): InsertVerdict {
  switch (answer.kind) {
    case "done":
      return { kind: "inserted" };
    case "exists":
      return { kind: "exists" };
    // An INSERT carries no condition of ours: whatever was refused, nothing was inserted.
    case "refused":
    case "failed":
      return { kind: "failed", error: answer.error };
    case "unknown":
      return { kind: "unknown", error: answer.error };
    default:
      return answer satisfies never;
  }
}

function writeVerdict(answer: StatementAnswer): WriteVerdict {
  switch (answer.kind) {
    case "done": {
      const mapped = occurrenceFrom(answer.item ?? {});
      // It took effect, but nobody can say on what: whoever asked must look again.
      return mapped.kind === "row" ? { kind: "applied", row: mapped.row } : { kind: "unknown", error: mapped.error };
    }
    case "refused":
      return { kind: "refused" };
    case "exists":
    case "failed":
      return { kind: "failed", error: answer.error };
    case "unknown":
      return { kind: "unknown", error: answer.error };
    default:
      return answer satisfies never;
  }
}
