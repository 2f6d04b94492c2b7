import { describe, expect, it } from "vitest";
import { createMemoryBus } from "../../../lib/adapters/memory/bus.ts";
import type { FunctionCall, FunctionInvoker, InvokeVerdict } from "../../../lib/app/function-invoker.ts";
import { createEventJob } from "../../../lib/jobs/builtin/event.ts";
import { builtin } from "../../../lib/jobs/builtin/index.ts";
import { createLambdaJob, type LambdaPayload } from "../../../lib/jobs/builtin/lambda.ts";
import { logJob } from "../../../lib/jobs/builtin/log.ts";
import { deployed } from "../../../lib/jobs/execute.ts";
import { outcomeOf } from "../../../lib/jobs/outcomes.ts";
import { parsePayload } from "../../../lib/jobs/payload.ts";
import type { CheckedJob } from "../../../lib/jobs/types.ts";
import type { BuiltinJobSettings } from "../../../lib/runtime/env.ts";
import { SETTINGS } from "../../functions/deployed-world.ts";
import { OCCURRENCE_ID, testContext } from "./context.ts";

const BILL = "arn:aws:lambda:eu-west-1:123456789012:function:bill";
const run = { occurrenceId: OCCURRENCE_ID, scheduleId: "hello", scheduledFor: "2026-11-29T09:00:00.000Z" };

describe("the log job", () => {
  it("logs the run and its payload, and returns nothing", async () => {
    const { context, lines } = testContext();
    expect(await logJob({ greeting: "hi" }, context)).toBeUndefined();
    expect(lines).toEqual([
      { message: "Ran", fields: expect.objectContaining({ ...run, attempt: 2, payload: { greeting: "hi" } }) },
    ]);
  });
});

describe("the event job", () => {
  it("puts the payload's event on the bus, with the run in it", async () => {
    const bus = createMemoryBus();
    const job = createEventJob(bus);
    const payload = await parsePayload(job.schema, { detailType: "Report Due", detail: { report: 7 } });
    await job.handler(payload, testContext().context);
    expect(bus.published).toEqual([
      {
        detailType: "Report Due",
        detail: { report: 7, punctual: expect.objectContaining({ ...run, attempt: 2, fencingToken: 3 }) },
      },
    ]);
  });

  it("is retried when the bus does not take the event", async () => {
    const cause = new Error("throttled");
    const job = createEventJob(createMemoryBus(() => cause));
    const failed = Promise.resolve(job.handler({ detailType: "Report Due", detail: {} }, testContext().context));
    await expect(failed).rejects.toMatchObject({ message: "the event did not get to the bus", cause });
    expect(outcomeOf(await failed.catch((error: unknown) => error))).toEqual({ kind: "retryable" });
  });

  it.each([[{}], [{ detailType: "" }], [{ detailType: "x".repeat(129) }], [{ detailType: "x", detail: [] }]])(
    "fails for good on the payload %j",
    async (payload) => {
      const { schema } = createEventJob(createMemoryBus());
      await expect(parsePayload(schema, payload)).rejects.toThrow(/payload\.detail/);
    },
  );
});

describe("the event job of a deployment that does not allow it", () => {
  it("fails for good, naming the setting", async () => {
    const { handler } = createEventJob(undefined);
    const failed = Promise.resolve().then(() => handler({ detailType: "x", detail: {} }, testContext().context));
    await expect(failed).rejects.toThrow("must be allowed by the deployment's eventJobSource");
    expect(outcomeOf(await failed.catch((error: unknown) => error))).toEqual({ kind: "permanent" });
  });
});

describe("the built-in jobs", () => {
  const deploy = (builtinJobs: BuiltinJobSettings) => {
    const sources: string[] = [];
    const called: string[] = [];
    const functions: FunctionInvoker = {
      invoke: async ({ functionArn }) => {
        called.push(functionArn);
        return { kind: "returned", value: 7 };
      },
    };
    const eventBus = (source: string) => {
      sources.push(source);
      return createMemoryBus();
    };
    const jobs = deployed(builtin, { deployed: { ...SETTINGS, builtinJobs }, jobServices: { eventBus, functions } });
    const run = async (name: string, payload: unknown): Promise<unknown> => {
      const job = jobs[name];
      if (job === undefined) throw new Error(`no job ${name}`);
      if (typeof job === "function") return job(payload, testContext().context);
      return job.handler(await parsePayload(job.schema, payload), testContext().context);
    };
    return { run, sources, called };
  };

  it("are log, http, event and lambda, and may reach nothing unless the deployment says so", async () => {
    const { run, sources, called } = deploy({ httpAllowedHosts: [], lambdaFunctions: [] });
    expect(Object.keys(builtin)).toEqual(["log", "http", "event", "lambda"]);
    await expect(run("http", { url: "https://a.example" })).rejects.toThrow("(httpAllowedHosts)");
    await expect(run("event", { detailType: "x" })).rejects.toThrow("eventJobSource");
    await expect(run("lambda", { function: "bill" })).rejects.toThrow("lambdaFunctions (none), got bill");
    expect([...sources, ...called]).toEqual([]);
  });

  it("reach what the deployment lists, events under a source of their own", async () => {
    const { run, sources, called } = deploy({
      httpAllowedHosts: [],
      lambdaFunctions: [BILL],
      eventJobSource: "acme.jobs",
    });
    await run("event", { detailType: "x" });
    expect(await run("lambda", { function: "bill" })).toBe(7);
    expect([...sources, ...called]).toEqual(["acme.jobs", BILL]);
  });

  it("cannot be made with an allow-list that cannot be read", () => {
    expect(() => deploy({ httpAllowedHosts: ["*"], lambdaFunctions: [] })).toThrow(
      "an entry of the allow-list must be",
    );
  });
});

describe("the lambda job", () => {
  const answering = (verdict: InvokeVerdict) => {
    const calls: FunctionCall[] = [];
    const functions: FunctionInvoker = {
      invoke: async (call) => {
        calls.push(call);
        return verdict;
      },
    };
    return { job: createLambdaJob({ allowed: [BILL, `${BILL}:live`], functions }), calls };
  };
  const call = async (
    job: CheckedJob<LambdaPayload>,
    payload: unknown,
    { context } = testContext(),
  ): Promise<unknown> => job.handler(await parsePayload(job.schema, payload), context);
  const thrownBy = (verdict: InvokeVerdict): Promise<unknown> =>
    call(answering(verdict).job, { function: "bill" }).then(
      () => expect.unreachable("the job must throw"),
      (error: unknown) => error,
    );

  it.each(["bill", BILL])("hands %s its event, tells it the run beside, and returns its answer", async (name) => {
    const { job, calls } = answering({ kind: "returned", value: { paid: true } });
    expect(await call(job, { function: name, payload: { to: "ada" } })).toEqual({ paid: true });
    expect(calls).toEqual([
      {
        functionArn: BILL,
        payload: '{"to":"ada"}',
        custom: expect.objectContaining({ ...run, attempt: "2", fencingToken: "3" }),
        signal: expect.any(AbortSignal),
      },
    ]);
  });

  it("knows an alias from the function itself", async () => {
    const { job, calls } = answering({ kind: "returned", value: undefined });
    await call(job, { function: "bill:live" });
    expect(calls.map(({ functionArn }) => functionArn)).toEqual([`${BILL}:live`]);
  });

  it("invokes nothing that is not on the list", async () => {
    const { job, calls } = answering({ kind: "returned", value: undefined });
    const error = await call(job, { function: "pay" }).catch((thrown: unknown) => thrown);
    expect(outcomeOf(error)).toEqual({ kind: "permanent" });
    expect(error).toMatchObject({
      message: "payload.function must be one of the deployment's lambdaFunctions (bill, bill:live), got pay",
    });
    expect(calls).toEqual([]);
  });

  it("is retried when the function fails, with what it said", async () => {
    const error = await thrownBy({ kind: "failed", error: { name: "TypeError", message: "no amount" } });
    expect(outcomeOf(error)).toEqual({ kind: "retryable" });
    expect(error).toMatchObject({ message: "bill failed: TypeError: no amount" });
  });

  it("is retried when it was not invoked, no sooner than Lambda asks", async () => {
    const refused = { kind: "refused", permanent: false, error: new Error("throttled") } as const;
    expect(outcomeOf(await thrownBy(refused))).toEqual({ kind: "retryable" });
    expect(outcomeOf(await thrownBy({ ...refused, retryAfterSeconds: 9 }))).toEqual({
      kind: "retryable",
      retryAfterSeconds: 9,
    });
  });

  it("says so where nobody knows whether the function ran", async () => {
    const cause = new Error("socket hang up");
    const error = await thrownBy({ kind: "unanswered", error: cause });
    expect(outcomeOf(error)).toEqual({ kind: "retryable" });
    expect(error).toMatchObject({ message: "bill did not answer; it may have run", cause });
  });

  it("fails for good where the same call can never be taken", async () => {
    const error = await thrownBy({ kind: "refused", permanent: true, error: new Error("no such function") });
    expect(outcomeOf(error)).toEqual({ kind: "permanent" });
  });

  it("stops to wait with the reason of its signal", async () => {
    const controller = new AbortController();
    const reason = new Error("the deadline has passed");
    const functions: FunctionInvoker = {
      invoke: async ({ signal }) => {
        controller.abort(reason);
        return { kind: "unanswered", error: new Error(String(signal.aborted)) };
      },
    };
    const job = createLambdaJob({ allowed: [BILL], functions });
    await expect(call(job, { function: "bill" }, testContext(controller.signal))).rejects.toBe(reason);
  });

  it.each([
    [{}, "payload.function"],
    [{ function: "a", event: 1 }, "event"],
  ])("fails for good on the payload %j", async (payload, path) => {
    await expect(call(answering({ kind: "returned", value: 1 }).job, payload)).rejects.toThrow(path);
  });
});
