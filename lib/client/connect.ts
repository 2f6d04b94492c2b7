import { DescribeTableCommand, type DynamoDBClient, ResourceNotFoundException } from "@aws-sdk/client-dynamodb";
import { createDynamoDbClient } from "../adapters/dynamodb/client.ts";
import { createOccurrenceStore } from "../adapters/dynamodb/occurrences.ts";
import { createScheduleStore } from "../adapters/dynamodb/schedules.ts";
import { createDynamoDbClock, type DynamoDbClock } from "../adapters/dynamodb/store-clock.ts";
import type { Logger, Metrics } from "../app/ports.ts";
import { errorMessage } from "../core/errors.ts";
import { systemHost } from "../runtime/system-host.ts";
import { createSchedulerClient, type SchedulerClient } from "./client.ts";
import { TargetError } from "./errors.ts";
import { findTarget, type Target, type TargetOptions } from "./target.ts";

/** Which deployment to connect to, and who is told of rows that cannot be read and of answers that stayed open. */
export interface ConnectOptions extends TargetOptions {
  /** Default: warnings and errors go to stderr. */
  readonly logger?: Logger;
}

/** A client with what belongs to it. */
export interface Connection {
  readonly client: SchedulerClient;
  /** Account, region and name of the deployment in one line. Throws `TargetError` where its table does not exist. */
  describe(): Promise<string>;
  /** Ends the connections. */
  close(): void;
}

/**
 * Finds a deployment and connects to it: `const { client } = await connect({ stack: "Punctual" })`. Throws `TargetError`
 * where it cannot be found.
 */
export async function connect({ logger = stderrLogger, ...options }: ConnectOptions = {}): Promise<Connection> {
  const target = await findTarget(options);
  const { schedulesTable, occurrencesTable, settings, access } = target;
  const dynamodb = createDynamoDbClient(access);
  const clock = createDynamoDbClock({ client: dynamodb, occurrencesTable, host: systemHost, logger });
  const tables = { client: dynamodb, logger, schedulesTable, occurrencesTable };
  const occurrences = createOccurrenceStore(tables);
  const schedules = createScheduleStore(tables);
  const manager = { occurrences, schedules, clock, logger, metrics: noMetrics, settings };
  return {
    client: createSchedulerClient(manager, withTime(clock)),
    describe: () => describeTarget(target, dynamodb),
    close: () => dynamodb.destroy(),
  };
}

/** Runs a call once the store's time is known. */
function withTime(clock: DynamoDbClock) {
  return async <Result>(call: () => Promise<Result>): Promise<Result> => {
    await clock.probe();
    return call();
  };
}

async function describeTarget({ name, schedulesTable, access }: Target, client: DynamoDBClient): Promise<string> {
  const place = access.endpoint === undefined ? await accountOf(schedulesTable, client) : `at ${access.endpoint}`;
  return [...(name === undefined ? [] : [name]), place, `table ${schedulesTable}`].join(", ");
}

/** An ARN of a table: `arn:partition:dynamodb:region:account:table/name` (AWS General Reference, "Amazon Resource Names"). */
async function accountOf(tableName: string, client: DynamoDBClient): Promise<string> {
  const region = await client.config.region();
  try {
    const { Table } = await client.send(new DescribeTableCommand({ TableName: tableName }));
    const [, , , , account = "unknown"] = Table?.TableArn?.split(":") ?? [];
    return `account ${account}, region ${region}`;
  } catch (thrown) {
    if (thrown instanceof ResourceNotFoundException)
      throw new TargetError(`table ${tableName} does not exist in region ${region}`, { cause: thrown });
    // Whoever may not describe the table may still be allowed to write to it; only the account stays unsaid.
    if (thrown instanceof Error && thrown.name === "AccessDeniedException") return `region ${region}`;
    throw new TargetError(`table ${tableName} cannot be reached: ${errorMessage(thrown)}`, { cause: thrown });
  }
}

const report =
  (level: string) =>
  (message: string, fields?: Readonly<Record<string, unknown>>): void =>
    console.error(`${level}: ${message}${fields ? ` ${JSON.stringify(fields)}` : ""}`);

const stderrLogger: Logger = { debug: () => {}, info: () => {}, warn: report("warning"), error: report("error") };

/** A client's own calls are nobody's metric. */
const noMetrics: Metrics = { count: () => {}, record: () => {}, gauge: () => {} };
