import { createHandler as createDispatcher } from "../../functions/dispatcher.ts";
import { createHandler as createNotifier } from "../../functions/notifier.ts";
import { createHandler as createReconciler } from "../../functions/reconciler.ts";
import { createConsumer } from "../jobs/create-consumer.ts";
import type { JobMap } from "../jobs/types.ts";
import type { Overrides } from "../runtime/create-engine.ts";
import type { FlushableMetrics } from "../runtime/metrics.ts";
import { FUNCTION_NAMES, type FunctionName } from "../runtime/names.ts";
import { type Endpoints, LOCAL_CREDENTIALS, LOCAL_REGION } from "./engines/clients.ts";
import { LocalEngineError } from "./errors.ts";
import type { Handler } from "./event-sources/lambda.ts";
import type { ResolveFunction } from "./event-sources/start.ts";
import { createLocalLogger } from "./log.ts";
import type { LocalFunction } from "./template/functions.ts";

/** Numbers are for CloudWatch; here the live view tells them. */
const noMetrics: FlushableMetrics = { count: () => {}, record: () => {}, flush: () => {} };

/**
 * Makes the very handlers of `functions/`, with the environment that the template gives each and clients for `endpoints`; the
 * consumer with `jobs`.
 */
export function functionResolver(endpoints: Endpoints, jobs: JobMap, print: (line: string) => void): ResolveFunction {
  return (definition) => {
    const name = functionNameOf(definition);
    const env = { ...definition.environment };
    return handlerOf(name, env, jobs, overridesFor(name, endpoints, print));
  };
}

/** Which of the functions a resource of the template is, by the name that its construct ends with. */
export function functionNameOf({ name }: LocalFunction): FunctionName {
  const found = FUNCTION_NAMES.find((each) => name.toLowerCase().endsWith(each));
  if (!found) throw new LocalEngineError(`function must be one of ${FUNCTION_NAMES.join(", ")}, got ${name}`);
  return found;
}

const overridesFor = (name: FunctionName, endpoints: Endpoints, print: (line: string) => void): Overrides => ({
  logger: createLocalLogger(name, print),
  metrics: noMetrics,
  clients: {
    region: LOCAL_REGION,
    credentials: LOCAL_CREDENTIALS,
    dynamodbEndpoint: endpoints.dynamodb,
    sqsEndpoint: endpoints.sqs,
    eventbridgeEndpoint: endpoints.eventbridge,
  },
});

function handlerOf(name: FunctionName, env: NodeJS.ProcessEnv, jobs: JobMap, overrides: Overrides): Handler {
  switch (name) {
    case "dispatcher":
      return { invoke: createDispatcher(env, overrides) };
    case "reconciler":
      return { invoke: createReconciler(env, overrides) };
    case "notifier":
      return { invoke: createNotifier(env, overrides) };
    case "consumer":
      return { invoke: createConsumer(jobs, { ...overrides, env, exit: refuseToExit }) };
    default:
      return name satisfies never;
  }
}

/** In Lambda the process would end here. In this one everything else lives too; the job's lease is gone either way. */
function refuseToExit(): never {
  throw new Error("a job ignored its signal and is still running");
}
