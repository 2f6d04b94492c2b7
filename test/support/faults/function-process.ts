// One execution environment of a function, in a process of its own that a test can stop and kill: it makes the very handler
// of functions/ and invokes it when it is told to.
import { createHandler as createDispatcher } from "../../../functions/dispatcher.ts";
import { createConsumer } from "../../../lib/jobs/create-consumer.ts";
import type { JobContext, JobMap } from "../../../lib/jobs/types.ts";
import { LOCAL_CREDENTIALS, LOCAL_REGION } from "../../../lib/local/engines/clients.ts";
import { createInvocable, type Handler } from "../../../lib/local/event-sources/lambda.ts";
import type { Overrides } from "../../../lib/runtime/create-engine.ts";
import { attemptName, type Configuration, command, configuration, type Report } from "./protocol.ts";

const tell = (report: Report): void => void process.send?.(report);
const waiting = new Map<string, (heartbeat: boolean) => void>();

/** Tells that it runs, waits for leave to end where its payload says so (in every attempt, or the first), and tells that it has ended. */
async function visibleJob(payload: unknown, context: JobContext): Promise<unknown> {
  const { scheduleId, firing } = context.occurrence;
  const attempt = { scheduleId, firing, attempt: context.attempt, fencingToken: context.fencingToken };
  tell({ kind: "started", ...attempt });
  if (payload !== "wait" && !(payload === "wait-once" && context.attempt === 1)) {
    tell({ kind: "ended", ...attempt });
    return undefined;
  }
  const heartbeat = await new Promise<boolean>((finish) => waiting.set(attemptName(attempt), finish));
  const lost = heartbeat ? await context.heartbeat().then(() => undefined, String) : undefined;
  tell({ kind: "ended", ...attempt, ...(lost !== undefined && { leaseLost: lost }) });
  return { token: context.fencingToken };
}

const jobs: JobMap = { default: visibleJob };

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
    default:
      return functionName satisfies never;
  }
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
      waiting.get(told.attempt)?.(told.heartbeat);
      return;
    default:
      told satisfies never;
  }
});
// However the test's own process ended, nobody is left to tell.
process.on("disconnect", () => process.exit(0));
