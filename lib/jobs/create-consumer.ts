import type { Context, SQSBatchResponse, SQSEvent } from "aws-lambda";
import { runBatch } from "../app/engine/run-batch.ts";
import { createEngine, type Overrides } from "../runtime/create-engine.ts";
import { once } from "../runtime/once.ts";
import { deployed, executorOf } from "./execute.ts";
import type { JobsOf } from "./types.ts";

/** What a consumer may be told beyond its jobs; a deployed one needs none of it. */
export interface ConsumerOptions extends Overrides {
  /** The environment that names tables and queues: `process.env` by default. */
  readonly env?: NodeJS.ProcessEnv;
  /** Runs of one batch that go on side by side: all ten by default. */
  readonly concurrency?: number;
  /** Ends the process when a job ignored its signal and is still running: it must not thaw in a later invocation. */
  readonly exit?: (code: number) => void;
}

/** The Lambda handler of a consumer function. */
export type ConsumerHandler = (event: SQSEvent, context: LambdaContext) => Promise<SQSBatchResponse>;

/** What the handler reads of Lambda's context. */
export type LambdaContext = Pick<
  Context,
  "getRemainingTimeInMillis" | "awsRequestId" | "logGroupName" | "logStreamName"
>;

/** SQS hands over at most ten messages of a FIFO queue at a time (AWS Lambda Developer Guide, "Using Lambda with Amazon SQS"). */
const BATCH_MAX = 10;

/**
 * Makes the Lambda handler that runs `jobs`: it starts, runs and reports each occurrence of a batch, renews leases
 * meanwhile, and answers which messages must come again. What a job returns or throws decides what becomes of its run
 * (`outcomes.ts`). The environment is read at the first invocation.
 */
export function createConsumer<Payloads extends Record<string, unknown>>(
  jobs: JobsOf<Payloads>,
  options: ConsumerOptions = {},
): ConsumerHandler {
  const coldStart = once(() => {
    const engine = createEngine(options.env ?? process.env, "consumer", options);
    return { engine, execute: executorOf(deployed(jobs, engine), engine.logger) };
  });
  return async (event, context) => {
    const { engine, execute } = coldStart();
    await engine.clock.probe();
    const runner = {
      engine,
      host: engine.host,
      execute,
      logs: `${context.logGroupName} ${context.logStreamName} ${context.awsRequestId}`,
    };
    const deliveries = event.Records.map(({ messageId, body }) => ({ id: messageId, body }));
    const result = await runBatch(runner, deliveries, {
      remainingMs: () => context.getRemainingTimeInMillis(),
      concurrency: options.concurrency ?? BATCH_MAX,
    }).finally(() => engine.metrics.flush());
    if (result.abandoned) {
      engine.logger.error("a job ignored its signal: this process ends so that it never goes on in a later invocation");
      (options.exit ?? process.exit)(1);
    }
    return { batchItemFailures: result.handBack.map((itemIdentifier) => ({ itemIdentifier })) };
  };
}
