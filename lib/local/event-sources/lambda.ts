import { randomUUID } from "node:crypto";
import type { Context } from "aws-lambda";
import type { LocalFunction } from "../template/functions.ts";

/** Lambda's context, without the callbacks that Lambda itself calls deprecated. */
export type LocalContext = Omit<Context, "done" | "fail" | "succeed">;

/** What a cold start yields. A method, so that a handler of any event type fits: as in Lambda, the event source decides what it gets. */
export interface Handler {
  invoke(event: unknown, context: LocalContext): Promise<unknown>;
}

/** A function that can be invoked. */
export interface Invocable {
  readonly definition: LocalFunction;
  /** Runs one invocation; rejects with what the handler throws, or when it outlives the function's timeout. */
  invoke(event: unknown): Promise<unknown>;
}

/** An execution environment: it runs one invocation at a time and keeps its module state between them. */
interface Environment {
  readonly handler: Handler;
  readonly logStreamName: string;
}

/**
 * Runs `definition` as Lambda does: each concurrent invocation has an environment of its own, made by `coldStart` and used again
 * when free; one that outlived its timeout is never used again (but, unlike in Lambda, what it started goes on).
 * Once `signal` aborts, contexts report that no time remains, so that a long invocation ends as it would before a freeze.
 */
export function createInvocable(
  definition: LocalFunction,
  coldStart: () => Handler | Promise<Handler>,
  signal: AbortSignal,
): Invocable {
  const idle: Environment[] = [];
  const start = async (): Promise<Environment> => ({ handler: await coldStart(), logStreamName: randomUUID() });
  return {
    definition,
    invoke: async (event) => {
      const environment = idle.pop() ?? (await start());
      const timeoutMs = definition.timeoutSeconds * 1_000;
      const deadlineMs = performance.now() + timeoutMs;
      const remainingMs = (): number => (signal.aborted ? 0 : Math.max(0, Math.floor(deadlineMs - performance.now())));
      const context = createContext(definition, environment.logStreamName, remainingMs);
      const { promise: timedOut, reject } = rejection();
      const timer = setTimeout(() => {
        reject(new Error(`${context.awsRequestId} Task timed out after ${definition.timeoutSeconds} seconds`));
      }, timeoutMs);
      let reusable = true;
      try {
        return await Promise.race([
          environment.handler.invoke(event, context),
          timedOut.catch((error: unknown) => {
            reusable = false;
            throw error;
          }),
        ]);
      } finally {
        clearTimeout(timer);
        if (reusable) idle.push(environment);
      }
    },
  };
}

function rejection(): { promise: Promise<never>; reject: (error: Error) => void } {
  let reject: (error: Error) => void = () => {};
  const promise = new Promise<never>((_, no) => {
    reject = no;
  });
  return { promise, reject };
}

const createContext = (
  definition: LocalFunction,
  logStreamName: string,
  getRemainingTimeInMillis: () => number,
): LocalContext => ({
  awsRequestId: randomUUID(),
  functionName: definition.name,
  functionVersion: "$LATEST",
  invokedFunctionArn: definition.arn,
  memoryLimitInMB: String(definition.memoryMb),
  logGroupName: definition.logGroupName,
  logStreamName,
  callbackWaitsForEmptyEventLoop: false,
  getRemainingTimeInMillis,
});
