import type { DynamoDBStreamEvent } from "aws-lambda";
import type { LocalClients } from "./engines/clients.ts";
import { LocalEngineError } from "./errors.ts";
import type { Checkpoints } from "./event-sources/checkpoints.ts";
import type { Report } from "./event-sources/report.ts";
import { pollStream, type StreamRunning } from "./event-sources/stream-poller.ts";
import type { LocalStack } from "./template/stack.ts";

/** Reads along with a table's stream, beside the functions that the template gives it; what `onEvent` throws is tried again. */
export function watchTable(
  stack: LocalStack,
  tableName: string,
  onEvent: (event: DynamoDBStreamEvent) => Promise<void>,
  work: { clients: LocalClients; checkpoints: Checkpoints; report: Report; signal: AbortSignal },
): StreamRunning {
  const table = stack.tables.find(({ name }) => name === tableName);
  if (table?.streamArn === undefined) throw new LocalEngineError(`table ${tableName} must have a stream`);
  const name = `watch ${tableName}`;
  const source = {
    kind: "stream" as const,
    logicalId: name,
    functionId: name,
    table,
    streamArn: table.streamArn,
    startingPosition: "TRIM_HORIZON" as const,
    batchSize: 1_000,
    patterns: [],
    bisect: false,
    maxRetries: 3,
    reportsItemFailures: false,
    onFailureQueue: undefined,
  };
  const definition = {
    logicalId: name,
    path: undefined,
    name,
    arn: name,
    timeoutSeconds: 60,
    memoryMb: 0,
    logGroupName: name,
    environment: {},
  };
  return pollStream(source, { definition, invoke: onEvent }, work.clients, work.checkpoints, work.report, work.signal);
}
