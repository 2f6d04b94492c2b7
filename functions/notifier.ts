import type { DynamoDBBatchResponse, DynamoDBStreamEvent } from "aws-lambda";
import { rowChange } from "../lib/adapters/dynamodb/stream-records.ts";
import { announce } from "../lib/app/engine/announce.ts";
import { createEngine, type Overrides } from "../lib/runtime/create-engine.ts";
import { once } from "../lib/runtime/once.ts";

/** The notifier with what `env` says, made at the first event. */
export function createHandler(env: NodeJS.ProcessEnv, overrides: Overrides = {}) {
  const coldStart = once(() => createEngine(env, "notifier", overrides));
  return async (event: DynamoDBStreamEvent): Promise<DynamoDBBatchResponse> => {
    const engine = coldStart();
    await engine.clock.probe();
    const changes = event.Records.flatMap((record) => {
      const change = rowChange(record);
      if (change.kind === "change") return [{ change, record }];
      if (change.kind === "malformed")
        engine.logger.error("a row that nobody can read changed; it is not announced", { error: change.error.message });
      return [];
    });
    try {
      const out = await announce(
        engine,
        engine.bus,
        changes.map(({ change }) => change),
      );
      const failed = changes.find((_, index) => !out[index]);
      // Lambda brings everything from the first failure on again; what is out by then carries the same identity once more.
      return { batchItemFailures: failed ? [{ itemIdentifier: failed.record.dynamodb?.SequenceNumber ?? "" }] : [] };
    } finally {
      engine.metrics.flush();
    }
  };
}

/** Announces what became of occurrences: the Occurrences stream's handler. */
export const handler = createHandler(process.env);
