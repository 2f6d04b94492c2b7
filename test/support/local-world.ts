import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { SQSClient } from "@aws-sdk/client-sqs";
import stockJobs from "../../functions/jobs.ts";
import { createOccurrenceStore } from "../../lib/adapters/dynamodb/occurrences.ts";
import { createScheduleStore } from "../../lib/adapters/dynamodb/schedules.ts";
import type { ScheduleItem } from "../../lib/app/ports.ts";
import type { Occurrence } from "../../lib/core/occurrence.ts";
import type { JobMap } from "../../lib/jobs/types.ts";
import { createClosing } from "../../lib/local/closing.ts";
import { LOCAL_CREDENTIALS, LOCAL_REGION } from "../../lib/local/engines/clients.ts";
import { startEngines } from "../../lib/local/engines/start.ts";
import { type LocalScheduler, startScheduler } from "../../lib/local/start.ts";
import { synthesizedTemplate } from "../../lib/local/template/synthesize.ts";
import { consumerHere } from "./consumer-here.ts";
import { startFaultProxy } from "./faults/proxy.ts";

const PROJECT_DIR = fileURLToPath(new URL("../../", import.meta.url));

/** The operations with which functions write rows and schedules' `status`. */
const WRITES: ReadonlySet<string> = new Set(["BatchExecuteStatement", "UpdateItem", "TransactWriteItems"]);

/** The longest that {@link startLocalWorld} takes: a server in Java, a synthesis, and everything behind them, on a busy machine. */
export const START_TIMEOUT_MS = 180_000;

/**
 * The longest that one test takes. On a machine so busy that answers come too late, a run waits for its lease now and then: a
 * minute each time.
 */
export const BUSY_TIMEOUT_MS = 300_000;

/** The whole scheduler on this machine, as `npm start` runs it, for the tests of one file. */
export interface LocalWorld {
  readonly scheduler: LocalScheduler;
  /** Where a user's own tools reach DynamoDB. */
  readonly dynamodbEndpoint: string;
  readonly dynamodb: DynamoDBClient;
  readonly sqs: SQSClient;
  /** An item of the Schedules table as it stands; `undefined` where there is none. */
  item(scheduleId: string): Promise<ScheduleItem | undefined>;
  /** Every row of a schedule, oldest first. */
  history(scheduleId: string): Promise<readonly Occurrence[]>;
  /** What `check` answers, as soon as that is not `undefined`: asked again whenever a function has written to DynamoDB. */
  untilWritten<Result>(check: () => Promise<Result | undefined>): Promise<Result>;
  close(): Promise<void>;
}

/** Starts everything on free ports, with `jobs` beside the stock ones. */
export async function startLocalWorld(jobs: JobMap = {}): Promise<LocalWorld> {
  const closing = createClosing();
  const stopping = new AbortController();
  closing.add(() => stopping.abort());
  const [engines, template] = await Promise.all([
    startEngines({ dynamodbPort: 0, sqsPort: 0, onBusEvent: () => {} }, closing),
    synthesizedTemplate(PROJECT_DIR, join(PROJECT_DIR, ".punctual"), stopping.signal),
  ]);
  // Between the scheduler and its store, so that a test hears of every write.
  const proxy = await startFaultProxy(engines.dynamodb.endpoint);
  closing.add(() => proxy.close());
  const scheduler = await startScheduler({
    engines: { ...engines, dynamodb: { ...engines.dynamodb, endpoint: proxy.endpoint } },
    template,
    closing,
    makeConsumer: consumerHere({ ...stockJobs, ...jobs }),
    checkpointDir: undefined,
    print: () => {},
    tell: () => {},
  });
  const config = { region: LOCAL_REGION, credentials: LOCAL_CREDENTIALS };
  const dynamodb = new DynamoDBClient({ ...config, endpoint: engines.dynamodb.endpoint });
  const sqs = new SQSClient({ ...config, endpoint: engines.sqs.endpoint });
  closing.add(() => {
    dynamodb.destroy();
    sqs.destroy();
  });
  const { schedulesTable, occurrencesTable } = scheduler.settings;
  const logger = { error: () => {} };
  const options = { client: dynamodb, schedulesTable, occurrencesTable, logger };
  const [schedules, occurrences] = [createScheduleStore(options), createOccurrenceStore(options)];
  return {
    scheduler,
    dynamodbEndpoint: engines.dynamodb.endpoint,
    dynamodb,
    sqs,
    item: async (scheduleId) => {
      const [reading] = await schedules.read([scheduleId]);
      return reading?.kind === "found" ? reading.row : undefined;
    },
    history: async (scheduleId) =>
      (await occurrences.history({ scheduleId, from: "0", to: "9", newestFirst: false, limit: 1_000 })).rows,
    untilWritten: (check) => proxy.exchanges.until(check, ({ operation }) => WRITES.has(operation)),
    close: closing.close,
  };
}
