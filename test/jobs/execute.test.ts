import { describe, expect, it } from "vitest";
import type { Attempt } from "../../lib/app/engine/run-occurrence.ts";
import type { Logger } from "../../lib/app/ports.ts";
import { plusMs } from "../../lib/core/instant.ts";
import type { Occurrence } from "../../lib/core/occurrence.ts";
import { executorOf } from "../../lib/jobs/execute.ts";
import { PermanentError, RetryableError } from "../../lib/jobs/outcomes.ts";
import type { JobContext, JobHandler, RunnableJob } from "../../lib/jobs/types.ts";
import { NOON } from "../support/occurrences.ts";
import { LATER, runningRow } from "../support/transitions.ts";

interface Line {
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>> | undefined;
}

/** A logger that keeps its lines. */
function keptLog(): { readonly logger: Logger; readonly lines: readonly Line[] } {
  const lines: Line[] = [];
  const write: Logger["info"] = (message, fields) => void lines.push({ message, fields });
  return { logger: { debug: write, info: write, warn: write, error: write }, lines };
}

const attemptOf = (given: Partial<Occurrence> = {}): Attempt => ({
  row: { ...runningRow({ payload: '{"n":1}' }), ...given },
  deadline: plusMs(NOON, 60_000),
  signal: new AbortController().signal,
  leaseUntil: () => LATER,
  heartbeat: async () => undefined,
});
const execute = (
  jobs: Readonly<Record<string, RunnableJob>>,
  given: Partial<Occurrence> = {},
  { logger } = keptLog(),
) => executorOf(jobs, logger)(attemptOf(given));
const returning = (value: unknown) => execute({ send: () => value });
const throwing = (thrown: unknown) =>
  execute({
    send: () => {
      throw thrown;
    },
  });

describe("what a job returns", () => {
  it.each<[unknown, string | undefined]>([
    [{ sent: 1 }, '{"sent":1}'],
    [0, "0"],
    ["", '""'],
    [false, "false"],
    [null, "null"],
    [undefined, undefined],
    [() => 1, undefined],
    [Symbol("odd"), undefined],
  ])("is kept as it is, though it be nothing much: %j (F305)", async (value, output) => {
    expect(await returning(value)).toEqual({ kind: "succeeded", ...(output !== undefined && { output }) });
    expect(await returning(Promise.resolve(value))).toEqual(await returning(value));
  });

  it("is not kept where it cannot be written, and the run is no worse for it", async () => {
    const log = keptLog();
    const ring: Record<string, unknown> = {};
    ring["ring"] = ring;
    expect(await execute({ send: () => ring }, {}, log)).toEqual({ kind: "succeeded" });
    expect(await returning(1n)).toEqual({ kind: "succeeded" });
    expect(log.lines).toMatchObject([{ message: expect.stringContaining("cannot be written as JSON") }]);
  });
});

describe("what a job throws", () => {
  it.each<[string, unknown, object]>([
    ["an error", new TypeError("no host"), { error: { name: "TypeError", message: "no host" }, permanent: false }],
    ["no error at all", "boom", { error: { name: "NonError", message: "boom" }, permanent: false }],
    ["nothing", undefined, { error: { name: "NonError", message: "undefined was thrown" }, permanent: false }],
    ["what no retry mends", new PermanentError("gone"), { error: { name: "PermanentError" }, permanent: true }],
    ["a wish", new RetryableError("busy", { retryAfterSeconds: 30 }), { permanent: false, retryAfterSeconds: 30 }],
    ["no wish", new RetryableError("busy"), { error: { name: "RetryableError", message: "busy" }, permanent: false }],
  ])("decides what becomes of the run: %s", async (_, thrown, outcome) => {
    expect(await throwing(thrown)).toMatchObject({ kind: "failed", ...outcome });
  });

  it("is the same whether it throws or rejects", async () => {
    const rejecting = await execute({ send: () => Promise.reject(new PermanentError("gone")) });
    expect(rejecting).toEqual(await throwing(new PermanentError("gone")));
  });
});

describe("a job's name", () => {
  it("must be one of those there are, and no member of every object", async () => {
    for (const job of ["sned", "constructor", "toString", "__proto__"])
      expect(await execute({ send: () => 1 }, { job })).toMatchObject({
        kind: "failed",
        permanent: true,
        error: { message: `job must be one of this consumer's (send), got "${job}"` },
      });
    expect(await execute({}, { job: "x" })).toMatchObject({
      error: { message: expect.stringContaining("it has none") },
    });
  });

  it("that is wrong is answered by twenty names at most", async () => {
    const jobs = Object.fromEntries(
      Array.from({ length: 30 }, (_, index): [string, JobHandler] => [`j${index}`, () => 1]),
    );
    const { error } = Object(await execute(jobs, { job: "x" }));
    expect(error.message).toContain("j19, ...)");
    expect(error.message).not.toContain("j20");
  });
});

describe("what a job is told", () => {
  /** The context that a job sees for a row. */
  async function contextOf(given: Partial<Occurrence> = {}): Promise<JobContext> {
    const seen: JobContext[] = [];
    await execute({ send: (_, context) => void seen.push(context) }, given);
    const [context] = seen;
    if (context === undefined) throw new Error("the job was not called");
    return context;
  }

  it("is who it runs for, which attempt it is, and how long it has", async () => {
    const row = runningRow();
    expect(await contextOf({ attempts: 2, fencingToken: 5, maxAttempts: 2 })).toMatchObject({
      occurrence: {
        occurrenceId: row.occurrenceId,
        scheduleId: "nightly",
        firing: "2026-11-29T12:00:00.000Z",
        kind: "scheduled",
        scheduledFor: new Date(NOON),
      },
      attempt: 2,
      maxAttempts: 2,
      isLastAttempt: true,
      fencingToken: 5,
      idempotencyKey: row.occurrenceId,
      deadline: new Date(plusMs(NOON, 60_000)),
    });
    const context = await contextOf({ attempts: 1, maxAttempts: 2 });
    expect(context.isLastAttempt).toBe(false);
    expect(context.leaseUntil()).toEqual(new Date(LATER));
  });

  it("is how the attempt before it ended, where there was one", async () => {
    const error = { name: "Error", message: "it broke" };
    const now = { token: 2, attempt: 2, startedAt: LATER };
    expect(await contextOf()).not.toHaveProperty("previousError");
    const failed = { token: 1, attempt: 1, startedAt: NOON, endedAt: NOON, error };
    expect((await contextOf({ log: [failed, now], lastError: error })).previousError).toEqual(error);
    const lost = { token: 1, attempt: 1, startedAt: NOON };
    expect((await contextOf({ log: [lost, now] })).previousError).toEqual({
      name: "WorkerLost",
      message: "attempt 1 started and never reported",
    });
  });

  it("is a logger that names the run on every line, whatever the job writes", async () => {
    const log = keptLog();
    await execute({ send: (_, { logger }) => logger.warn("hello", { scheduleId: "forged", extra: 1 }) }, {}, log);
    expect(log.lines).toMatchObject([
      {
        message: "hello",
        fields: {
          scheduleId: "nightly",
          occurrence: "nightly@2026-11-29T12:00:00.000Z",
          attemptId: `${runningRow().occurrenceId}:1`,
          job: "send",
          extra: 1,
        },
      },
    ]);
  });
});
