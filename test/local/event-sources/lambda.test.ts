import { describe, expect, it } from "vitest";
import { createInvocable, type Handler, type LocalContext } from "../../../lib/local/event-sources/lambda.ts";
import type { LocalFunction } from "../../../lib/local/template/functions.ts";

const definition: LocalFunction = {
  logicalId: "Consumer",
  path: undefined,
  name: "consumer",
  arn: "arn:consumer",
  timeoutSeconds: 10,
  memoryMb: 256,
  logGroupName: "/aws/lambda/consumer",
  environment: {},
};

const running = new AbortController().signal;

/** An invocable whose environments are numbered in the order of their cold starts and answer by `body`. */
function numbered(
  body: (environment: number, event: unknown, context: LocalContext) => Promise<unknown>,
  changes = {},
) {
  let coldStarts = 0;
  const coldStart = (): Handler => {
    coldStarts += 1;
    const environment = coldStarts;
    return { invoke: (event, context) => body(environment, event, context) };
  };
  return createInvocable({ ...definition, ...changes }, coldStart, running);
}

describe("an invocation", () => {
  it("has a context like Lambda's", async () => {
    const contexts: LocalContext[] = [];
    await numbered(async (_, __, given) => contexts.push(given)).invoke({});
    const [context] = contexts;
    expect(context).toMatchObject({
      functionName: "consumer",
      invokedFunctionArn: "arn:consumer",
      memoryLimitInMB: "256",
      logGroupName: "/aws/lambda/consumer",
      logStreamName: expect.any(String),
      awsRequestId: expect.any(String),
    });
    expect(context?.getRemainingTimeInMillis()).toBeGreaterThan(9_000);
    expect(context?.getRemainingTimeInMillis()).toBeLessThanOrEqual(10_000);
  });

  it("uses a warm environment when one is free, and a cold one when none is", async () => {
    const target = numbered(async (environment) => environment);
    expect(await target.invoke({})).toBe(1);
    expect(await Promise.all([target.invoke({}), target.invoke({})])).toEqual([1, 2]);
  });

  it("keeps the environment of a handler that threw", async () => {
    const target = numbered(async (environment, event) => {
      if (event === "bad") throw new Error("no");
      return environment;
    });
    await expect(target.invoke("bad")).rejects.toThrow("no");
    expect(await target.invoke("good")).toBe(1);
  });

  it("that outlives its timeout fails, and its environment is not used again", async () => {
    const target = numbered(
      (environment) => (environment === 1 ? new Promise(() => {}) : Promise.resolve(environment)),
      { timeoutSeconds: 0.01 },
    );
    await expect(target.invoke({})).rejects.toThrow("Task timed out after 0.01 seconds");
    expect(await target.invoke({})).toBe(2);
  });

  it("has no time left once the engine stops", async () => {
    const stopping = new AbortController();
    const handler: Handler = { invoke: async (_, context) => context.getRemainingTimeInMillis() };
    const target = createInvocable(definition, () => handler, stopping.signal);
    expect(await target.invoke({})).not.toBe(0);
    stopping.abort();
    expect(await target.invoke({})).toBe(0);
  });
});
