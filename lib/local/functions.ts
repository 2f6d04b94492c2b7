import { createHandler as createDispatcher } from "../../functions/dispatcher.ts";
import { createHandler as createNotifier } from "../../functions/notifier.ts";
import { createHandler as createReconciler } from "../../functions/reconciler.ts";
import type { Overrides } from "../runtime/create-engine.ts";
import { FUNCTION_NAMES, type FunctionName } from "../runtime/names.ts";
import type { Configuration } from "./consumer/protocol.ts";
import type { Endpoints } from "./engines/clients.ts";
import { LocalEngineError } from "./errors.ts";
import type { Handler } from "./event-sources/lambda.ts";
import type { ResolveFunction } from "./event-sources/start.ts";
import { hostUntil } from "./host-until.ts";
import { overridesFor } from "./overrides.ts";
import type { LocalFunction } from "./template/functions.ts";

/** Makes an execution environment of the consumer. */
export type MakeConsumer = (configuration: Configuration) => Handler;

/**
 * Makes the very handlers of `functions/`, with the environment that the template gives each and clients for `endpoints`; the
 * consumer, which runs users' code, as `makeConsumer` does.
 */
export function functionResolver(
  endpoints: Endpoints,
  makeConsumer: MakeConsumer,
  print: (line: string) => void,
): ResolveFunction {
  return (definition, stopping) => {
    const name = functionNameOf(definition);
    const env = { ...definition.environment };
    const consumer = (): Handler => makeConsumer({ environment: env, endpoints });
    const overrides = overridesFor(name, endpoints, print);
    // The others' invocations are short.
    const ends = name === "dispatcher" ? { ...overrides, host: hostUntil(stopping) } : overrides;
    return handlerOf(name, env, ends, consumer);
  };
}

/** The handler of a function of `functions/`; `makeConsumer` makes the consumer's, which runs users' code. */
export function handlerOf(
  name: FunctionName,
  env: NodeJS.ProcessEnv,
  overrides: Overrides,
  makeConsumer: () => Handler,
): Handler {
  switch (name) {
    case "dispatcher":
      return { invoke: createDispatcher(env, overrides) };
    case "reconciler":
      return { invoke: createReconciler(env, overrides) };
    case "notifier":
      return { invoke: createNotifier(env, overrides) };
    case "consumer":
      return makeConsumer();
    default:
      return name satisfies never;
  }
}

/** Which of the functions a resource of the template is, by the name that its construct ends with. */
export function functionNameOf({ name }: LocalFunction): FunctionName {
  const found = FUNCTION_NAMES.find((each) => name.toLowerCase().endsWith(each));
  if (!found) throw new LocalEngineError(`function must be one of ${FUNCTION_NAMES.join(", ")}, got ${name}`);
  return found;
}
