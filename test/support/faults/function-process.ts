// One execution environment of a function, or a worker, in a process of its own that a test can stop and kill: it makes the
// very handler of functions/ and invokes it when it is told to, or the worker and starts it.
import { createHandler as createDispatcher } from "../../../functions/dispatcher.ts";
import { createConsumer } from "../../../lib/jobs/create-consumer.ts";
import { createWorker } from "../../../lib/jobs/create-worker.ts";
import { LOCAL_CREDENTIALS, LOCAL_REGION } from "../../../lib/local/engines/clients.ts";
import { createInvocable, type Handler } from "../../../lib/local/event-sources/lambda.ts";
import type { Overrides } from "../../../lib/runtime/create-engine.ts";
import { type Configuration, command, configuration, type Report } from "./protocol.ts";
import { createVisibleJobs } from "./visible-jobs.ts";

const tell = (report: Report): void => void process.send?.(report);
const { jobs, finish } = createVisibleJobs(tell);

function overridesFor({ dynamodbEndpoint, sqsEndpoint }: Configuration): Overrides {
  const log =
    (level: string) =>
    (message: string, fields: Readonly<Record<string, unknown>> = {}): void =>
      tell({ kind: "log", level, message, fields });
  return {
    logger: { debug: log("debug"), info: log("info"), warn: log("warn"), error: log("error") },
    metrics: { count: () => {}, record: () => {}, gauge: () => {}, flush: () => {} },
    clients: { region: LOCAL_REGION, credentials: LOCAL_CREDENTIALS, dynamodbEndpoint, sqsEndpoint },
  };
}

function handlerOf(configured: Configuration): Handler {
  const { functionName, environment: env } = configured;
  const overrides = overridesFor(configured);
  switch (functionName) {
    case "dispatcher":
      return { invoke: createDispatcher(env, overrides) };
    case "consumer":
      return { invoke: createConsumer(jobs, { ...overrides, env }) };
    case "worker":
      throw new Error("a worker is started, not invoked");
    default:
      return functionName satisfies never;
  }
}

/** A receive waits as short as it may: a stand-in may hand messages to one whose process is gone. */
const RECEIVE_WAIT_SECONDS = 1;

function startWorker(configured: Configuration): void {
  const worker = createWorker({
    ...overridesFor(configured),
    ...configured.worker,
    jobs,
    env: configured.environment,
    waitSeconds: RECEIVE_WAIT_SECONDS,
    signals: true,
    onEvent: (event) => tell({ kind: "event", event: { ...event } }),
  });
  worker.start();
}

const configured = configuration.parse(JSON.parse(process.argv[2] ?? ""));
const machineNow = Date.now;
Date.now = () => machineNow() + configured.wallClockAheadMs;

const { functionName: name, environment, timeoutSeconds } = configured;
const definition = { logicalId: name, path: undefined, name, arn: name, timeoutSeconds, memoryMb: 512 };
const invocable = createInvocable(
  { ...definition, logGroupName: name, environment },
  () => handlerOf(configured),
  new AbortController().signal,
);

if (name === "worker") startWorker(configured);

process.on("message", (message) => {
  const told = command.parse(message);
  switch (told.kind) {
    case "invoke":
      invocable.invoke(told.event).then(
        (answer) => tell({ kind: "answer", id: told.id, answer }),
        (error: unknown) => tell({ kind: "error", id: told.id, message: String(error) }),
      );
      return;
    case "finish":
      finish(told.attempt, told.heartbeat);
      return;
    default:
      told satisfies never;
  }
});
// However the test's own process ended, nobody is left to tell.
process.on("disconnect", () => process.exit(0));
