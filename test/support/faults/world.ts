import { createOccurrenceStore } from "../../../lib/adapters/dynamodb/occurrences.ts";
import { createScheduleStore } from "../../../lib/adapters/dynamodb/schedules.ts";
import type { Engine } from "../../../lib/app/engine/engine.ts";
import { reconcile } from "../../../lib/app/engine/reconcile.ts";
import type { Logger, ScheduleItem } from "../../../lib/app/ports.ts";
import { deduplicationId } from "../../../lib/core/ids.ts";
import { type Instant, instant } from "../../../lib/core/instant.ts";
import { encodeMessage, messageOf } from "../../../lib/core/message.ts";
import type { Occurrence, OccurrenceKey } from "../../../lib/core/occurrence.ts";
import { createClosing } from "../../../lib/local/closing.ts";
import { createLocalClients, LOCAL_CREDENTIALS, LOCAL_REGION } from "../../../lib/local/engines/clients.ts";
import { startSqs } from "../../../lib/local/engines/sqs.ts";
import { functionNameOf } from "../../../lib/local/functions.ts";
import type { Template } from "../../../lib/local/template/document.ts";
import { type LocalStack, provision } from "../../../lib/local/template/stack.ts";
import { createEngine } from "../../../lib/runtime/create-engine.ts";
import { environmentOf, readEnvironment } from "../../../lib/runtime/env.ts";
import { pause } from "../../../lib/runtime/pause.ts";
import type { FaultEngines } from "./engines.ts";
import { Journal } from "./journal.ts";
import { type FunctionProcess, startFunctionProcess } from "./processes.ts";
import type { Configuration, Report, WorkerConfiguration } from "./protocol.ts";
import { type FaultProxy, startFaultProxy } from "./proxy.ts";
import { createQueueSource, type QueueSource } from "./queue-source.ts";

/** One deployment on real stand-ins, its functions in processes of their own, all that happens between them in the test's hands. */
export interface FaultWorld {
  /** Between the functions and DynamoDB Local. Its `Date` headers are the store's clock. */
  readonly dynamodb: FaultProxy;
  /** Between the functions and the local SQS. */
  readonly sqs: FaultProxy;
  readonly queue: QueueSource;
  /** What the processes tell, jobs' starts and ends among it. */
  readonly reports: Journal<Report>;
  /** The store's clock. */
  now(): Instant;
  /** Moves the store's clock on, by whole seconds. */
  advance(ms: number): void;
  /** From now on DynamoDB is where it was started again. */
  moveStore(endpoint: string): void;
  /** Puts schedules and reconciles them, as their stream would have it done. */
  put(items: readonly ScheduleItem[]): Promise<void>;
  /** A dispatcher that is ticked whenever its last invocation is over, until its process ends. */
  startDispatcher(clock?: { wallClockAheadMs: number }): FunctionProcess;
  /** A consumer that is fed from the queue until its process ends. */
  startConsumer(): FunctionProcess;
  /** A worker that polls the queue by itself, until its process ends. */
  startWorker(worker?: Partial<WorkerConfiguration>): FunctionProcess;
  /** Puts rows that were claimed into the store, and their messages into the queue, as a dispatcher leaves them. */
  dispatched(rows: readonly Occurrence[]): Promise<void>;
  /** Resolves when workers have left nothing in the queue. */
  workedOff(): Promise<void>;
  row(key: OccurrenceKey): Promise<Occurrence>;
  /** Every row of a schedule, oldest first. */
  history(scheduleId: string): Promise<readonly Occurrence[]>;
  /** What `check` answers, as soon as that is not `undefined`: asked again whenever a function has written to DynamoDB. */
  untilWritten<Result>(check: () => Promise<Result | undefined>): Promise<Result>;
  /** The row, as soon as it is as `wanted`. */
  until(key: OccurrenceKey, wanted: (row: Occurrence) => boolean): Promise<Occurrence>;
  /** The starts of a schedule's runs that were told so far. */
  starts(scheduleId: string): readonly JobReport[];
  close(): Promise<void>;
}

/** A job's start or end. */
export type JobReport = Extract<Report, { kind: "started" | "ended" }>;

/** Whether a report tells of a job's start. */
export const isStart = (report: Report): report is Extract<Report, { kind: "started" }> => report.kind === "started";

const quiet: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** The operation with which functions write rows. */
const WRITES = "BatchExecuteStatement";

/** How often a schedule is reconciled at most: its stream's record would come again. */
const RECONCILES_MAX = 5;

/** How soon a function whose invocation failed is invoked again. The rule of a deployment takes up to a minute. */
const TICK_AGAIN_MS = 200;

/** A worker whose messages come again soon, also those that a stand-in handed to a receive whose process is gone. */
const WORKER: WorkerConfiguration = { concurrency: 10, prefetch: 0, visibilityTimeoutSeconds: 3, graceSeconds: 20 };

let worlds = 0;

/** A new world on `engines`: empty tables and queues, made from the synthesized template, under a name of their own. */
export async function newFaultWorld(engines: FaultEngines): Promise<FaultWorld> {
  worlds += 1;
  const name = `World${worlds}`;
  const closing = createClosing();
  const sqsEngine = await startSqs();
  closing.add(() => sqsEngine.close());
  // What a test looks at it sees past its own faults: through a proxy that does nothing.
  const [dynamodb, sight, sqs] = await Promise.all([
    startFaultProxy(engines.dynamodb.endpoint),
    startFaultProxy(engines.dynamodb.endpoint),
    startFaultProxy(sqsEngine.endpoint),
  ]);
  for (const proxy of [dynamodb, sight, sqs]) closing.add(() => proxy.close());
  const clients = createLocalClients({ dynamodb: sight.endpoint, sqs: sqsEngine.endpoint });
  closing.add(() => clients.destroy());
  const stack = await provision(withTablesNamed(engines.template, name), clients);

  const environment = environmentIn(stack);
  const { deployed, ...engine } = createEngine(environment, "reconciler", {
    logger: quiet,
    metrics: { count: () => {}, record: () => {}, gauge: () => {}, flush: () => {} },
    clients: {
      region: LOCAL_REGION,
      credentials: LOCAL_CREDENTIALS,
      dynamodbEndpoint: dynamodb.endpoint,
      sqsEndpoint: sqs.endpoint,
    },
  });
  const seen = { client: clients.dynamodb, logger: quiet, ...tablesOf(deployed) };
  const [schedules, occurrences] = [createScheduleStore(seen), createOccurrenceStore(seen)];

  // Ends before what it works with, and after the processes it works for.
  const ended = new AbortController();
  const background: Promise<void>[] = [];
  closing.add(async () => {
    ended.abort();
    await Promise.all(background);
  });
  const reports = new Journal<Report>();
  const startProcess = (
    what: Pick<Configuration, "functionName" | "timeoutSeconds" | "worker">,
    wallClockAheadMs = 0,
  ) => {
    const endpoints = { dynamodbEndpoint: dynamodb.endpoint, sqsEndpoint: sqs.endpoint };
    const configured = { ...what, environment, ...endpoints, wallClockAheadMs };
    const started = startFunctionProcess(engines.program, configured, reports);
    closing.add(() => started.kill());
    return started;
  };
  const start = (functionName: "dispatcher" | "consumer", wallClockAheadMs = 0): FunctionProcess => {
    const { timeoutSeconds } = functionIn(stack, functionName);
    return startProcess({ functionName, timeoutSeconds }, wallClockAheadMs);
  };
  const queue = createQueueSource(clients.sqs, mainQueueOf(stack));

  const read = async (key: OccurrenceKey): Promise<Occurrence> => {
    const [reading] = await occurrences.read([key]);
    if (reading?.kind !== "found") throw new Error(`no row ${key.scheduleId}@${key.firing}: ${reading?.kind}`);
    return reading.row;
  };
  const untilWritten: FaultWorld["untilWritten"] = (check) =>
    dynamodb.exchanges.until(check, ({ operation }) => operation === WRITES);
  return {
    dynamodb,
    sqs,
    queue,
    reports,
    now: () => instant(Date.now() + dynamodb.dateOffsetMs),
    advance: (ms) => {
      dynamodb.dateOffsetMs += ms;
    },
    moveStore: (endpoint) => {
      for (const proxy of [dynamodb, sight]) proxy.target = endpoint;
    },
    put: async (items) => {
      await engine.clock.probe();
      for (const item of items) {
        await schedules.put(item, "any");
        await reconcileUntilDone(engine, item.scheduleId);
      }
    },
    startDispatcher: ({ wallClockAheadMs } = { wallClockAheadMs: 0 }) => {
      const dispatcher = start("dispatcher", wallClockAheadMs);
      background.push(keepTicking(dispatcher, ended.signal));
      return dispatcher;
    },
    startConsumer: () => {
      const consumer = start("consumer");
      background.push(queue.feed(consumer, ended.signal));
      return consumer;
    },
    startWorker: (worker = {}) =>
      startProcess({ functionName: "worker", timeoutSeconds: 0, worker: { ...WORKER, ...worker } }),
    dispatched: async (rows) => {
      for (const verdict of await occurrences.insert(rows))
        if (verdict.kind !== "inserted") throw new Error(`a row was not inserted: ${verdict.kind}`);
      const messages = rows.map((row) => ({
        queue: row.queue,
        deduplicationId: deduplicationId(row.occurrenceId, row.fencingToken),
        body: encodeMessage(messageOf(row)),
      }));
      for (const verdict of await engine.queue.send(messages))
        if (verdict.kind !== "accepted") throw new Error(`a message was not accepted: ${verdict.kind}`);
    },
    workedOff: async () => {
      await sqs.exchanges.until(async () => ((await queue.isEmpty()) ? true : undefined));
    },
    row: read,
    history: async (scheduleId) => {
      const all = { scheduleId, from: "0", to: "9", newestFirst: false, limit: 1_000 };
      return (await occurrences.history(all)).rows;
    },
    untilWritten,
    until: (key, wanted) =>
      untilWritten(async () => {
        const row = await read(key);
        return wanted(row) ? row : undefined;
      }),
    starts: (scheduleId) => reports.entries.filter(isStart).filter((report) => report.scheduleId === scheduleId),
    close: closing.close,
  };
}

/** On a busy machine a request may outlast its limit. */
async function reconcileUntilDone(engine: Engine, scheduleId: string): Promise<void> {
  for (let tries = 1; ; tries += 1)
    try {
      await reconcile(engine, scheduleId);
      return;
    } catch (error) {
      if (tries === RECONCILES_MAX) throw error;
    }
}

async function keepTicking(dispatcher: FunctionProcess, signal: AbortSignal): Promise<void> {
  while (dispatcher.alive && !signal.aborted)
    await dispatcher.invoke({ dispatcher: 0, of: 1 }).catch(() => pause(TICK_AGAIN_MS, signal));
}

/** DynamoDB Local is one for a whole file: each world's tables need names of their own. */
const withTablesNamed = (template: Template, suffix: string): Template => ({
  ...template,
  resources: template.resources.map((resource) =>
    resource.type === "AWS::DynamoDB::GlobalTable"
      ? { ...resource, properties: { ...resource.properties, TableName: `${resource.logicalId}-${suffix}` } }
      : resource,
  ),
});

function functionIn({ functions }: LocalStack, name: Configuration["functionName"]) {
  const found = functions.find((each) => functionNameOf(each) === name);
  if (found === undefined) throw new Error(`the template must hold a ${name}, got none`);
  return found;
}

/** What the template tells its functions, but with one shard: what is due together is then claimed and sent together. */
function environmentIn(stack: LocalStack): Record<string, string> {
  const settings = readEnvironment({ ...functionIn(stack, "dispatcher").environment });
  return environmentOf({ ...settings, shards: 1 });
}

function mainQueueOf({ eventSources }: LocalStack) {
  for (const source of eventSources) if (source.kind === "queue") return source.queue;
  throw new Error("the template must hold a queue that feeds the consumer, got none");
}

const tablesOf = ({ schedulesTable, occurrencesTable }: { schedulesTable: string; occurrencesTable: string }) => ({
  schedulesTable,
  occurrencesTable,
});
