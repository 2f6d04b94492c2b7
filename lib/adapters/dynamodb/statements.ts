import {
  BatchExecuteStatementCommand,
  type BatchStatementRequest,
  type DynamoDBClient,
} from "@aws-sdk/client-dynamodb";
import { mapBounded } from "../../app/bounded.ts";
import { StoreError } from "../../app/errors.ts";
import type { Item } from "./attribute-value.ts";
import { chunked, waves } from "./chunks.ts";
import { type Negative, requestFailure, statementFailure } from "./outcome.ts";

/** Statements in one batch (Amazon DynamoDB API Reference, BatchExecuteStatement: "up to 25"). */
const STATEMENT_BATCH_MAX = 25;

/** A write of one row and the row's key as text: one request must not name a key twice, or all of it fails. */
export interface KeyedStatement {
  readonly key: string;
  readonly request: BatchStatementRequest;
}

/** What became of one statement. `item`: the row, where the statement asked for it. */
export type StatementAnswer = { readonly kind: "done"; readonly item: Item | undefined } | Negative;

/**
 * Runs independent writes in batches and answers each, in order. Statements of one key run one after the other. Never throws:
 * a request's failure is the answer of all of its statements, and one that DynamoDB finds invalid as a whole is taken apart,
 * so that one bad statement does not stop the others.
 */
export async function executeStatements(
  client: DynamoDBClient,
  statements: readonly KeyedStatement[],
  concurrency: number,
): Promise<StatementAnswer[]> {
  const answers = new Map<KeyedStatement, StatementAnswer>();
  for (const wave of waves(statements, ({ key }) => key)) {
    const members = wave.flatMap((index) => statements[index] ?? []);
    await mapBounded(chunked(members, STATEMENT_BATCH_MAX), concurrency, async (batch) => {
      const batchAnswers = await executeBatch(client, batch);
      for (const [index, statement] of batch.entries()) answers.set(statement, batchAnswers[index] ?? unanswered());
    });
  }
  return statements.map((statement) => answers.get(statement) ?? unanswered());
}

async function executeBatch(client: DynamoDBClient, batch: readonly KeyedStatement[]): Promise<StatementAnswer[]> {
  try {
    const { Responses = [], $metadata } = await client.send(
      new BatchExecuteStatementCommand({ Statements: batch.map(({ request }) => request) }),
    );
    return Responses.map(({ Error: error, Item: item }) =>
      error === undefined ? { kind: "done", item } : statementFailure(error, $metadata.attempts ?? 1),
    );
  } catch (thrown) {
    const failure = requestFailure(thrown);
    const invalid = thrown instanceof Error && thrown.name === "ValidationException";
    if (failure.kind !== "failed" || !invalid || batch.length === 1) return batch.map(() => failure);
    const apart = await mapBounded(batch, 1, (statement) => executeBatch(client, [statement]));
    return apart.flat();
  }
}

const unanswered = (): StatementAnswer => ({
  kind: "unknown",
  error: new StoreError("DynamoDB gave no answer for this statement"),
});
