import type { SQSEvent, SQSRecord } from "aws-lambda";
import { describe, expect, it, vi } from "vitest";
import * as z from "zod";
import { createHandler } from "../../functions/consumer.ts";
import { plusMs } from "../../lib/core/instant.ts";
import { encodeMessage, messageOf } from "../../lib/core/message.ts";
import type { Occurrence } from "../../lib/core/occurrence.ts";
import { type ConsumerOptions, createConsumer } from "../../lib/jobs/create-consumer.ts";
import type { JobMap } from "../../lib/jobs/types.ts";
import { type DeployedWorld, newDeployedWorld } from "../functions/deployed-world.ts";
import { anOccurrence, NOON } from "../support/occurrences.ts";

vi.mock("../../lib/runtime/create-engine.ts", async () => ({
  createEngine: (await import("../functions/deployed-world.ts")).engineOf,
}));

const CONTEXT = {
  getRemainingTimeInMillis: () => 300_000,
  awsRequestId: "request-1",
  logGroupName: "/aws/lambda/consumer",
  logStreamName: "2026/11/29",
};

/** A world with a dispatched row of each name, and the event that delivers their messages. */
async function delivered(names: readonly string[], given: Partial<Occurrence> = {}) {
  const world = newDeployedWorld();
  const held = {
    status: "DISPATCHED",
    owner: "d",
    leaseUntil: plusMs(NOON, 60_000),
    attempts: 1,
    fencingToken: 1,
  } as const;
  await world.engine.occurrences.insert(
    names.map((scheduleId) => anOccurrence({ scheduleId, payload: '{"n":1}', ...held, ...given })),
  );
  const bodies = names.map((name) => encodeMessage(messageOf(world.row(name, NOON))));
  return { world, event: eventOf(bodies) };
}

const eventOf = (bodies: readonly string[]): SQSEvent => ({
  Records: bodies.map(
    (body, index): SQSRecord => ({
      messageId: `message-${index}`,
      body,
      receiptHandle: "",
      attributes: {
        ApproximateReceiveCount: "1",
        SentTimestamp: "",
        SenderId: "",
        ApproximateFirstReceiveTimestamp: "",
      },
      messageAttributes: {},
      md5OfBody: "",
      eventSource: "aws:sqs",
      eventSourceARN: "",
      awsRegion: "",
    }),
  ),
});
const handle = (world: DeployedWorld, jobs: JobMap, event: SQSEvent, options: ConsumerOptions = {}) =>
  world.time.finish(createConsumer(jobs, { ...options, env: world.env })(event, CONTEXT));

describe("a consumer", () => {
  it("runs the jobs of a batch and acknowledges all of it, with where their logs are on the rows", async () => {
    const { world, event } = await delivered(["a", "b"]);
    const answer = await handle(world, { send: (payload) => ({ got: payload }) }, event);
    expect(answer).toEqual({ batchItemFailures: [] });
    for (const name of ["a", "b"])
      expect(world.row(name, NOON)).toMatchObject({
        status: "SUCCEEDED",
        output: '{"got":{"n":1}}',
        log: [{ logs: "/aws/lambda/consumer 2026/11/29 request-1" }],
      });
    expect(world.did).toEqual(["probe", "flush"]);
  });

  it("hands back what does not fit the invocation, by its message id", async () => {
    const { world, event } = await delivered(["a", "b"], { timeoutSeconds: 3_600 });
    expect(await handle(world, { send: () => 1 }, event)).toEqual({
      batchItemFailures: [{ itemIdentifier: "message-0" }, { itemIdentifier: "message-1" }],
    });
    expect(world.row("a", NOON).status).toBe("DISPATCHED");
  });

  it("fails permanently what names an unknown job, and says which there are", async () => {
    const { world, event } = await delivered(["a"], { job: "sned" });
    await handle(world, { send: () => 1, log: () => 1 }, event);
    expect(world.row("a", NOON)).toMatchObject({
      status: "FAILED",
      lastError: { name: "PermanentError", message: `job must be one of this consumer's (send, log), got "sned"` },
    });
  });

  it("checks payloads before a job sees them, where it has a schema", async () => {
    const { world, event } = await delivered(["a"]);
    const send = { schema: z.object({ to: z.string() }), handler: () => "unreachable" };
    await handle(world, { send }, event);
    expect(world.row("a", NOON)).toMatchObject({
      status: "FAILED",
      lastError: { message: expect.stringContaining("payload.to") },
    });
  });

  it("runs no more at a time than it is told", async () => {
    const { world, event } = await delivered(["a", "b", "c"]);
    let running = 0;
    let most = 0;
    const send = async () => {
      running += 1;
      most = Math.max(most, running);
      await world.time.host.sleep(1_000);
      running -= 1;
    };
    await handle(world, { send }, event, { concurrency: 1 });
    expect(most).toBe(1);
  });

  it("ends its process after a job that ignored its signal, once all else has reported: it must not thaw later", async () => {
    const { world, event } = await delivered(["a", "b"]);
    const exits: number[] = [];
    const send: JobMap[string] = (_, { occurrence }) =>
      occurrence.scheduleId === "a" ? new Promise(() => undefined) : "done";
    await handle(world, { send }, event, { exit: (code) => void exits.push(code) });
    expect(exits).toEqual([1]);
    expect([world.row("a", NOON).status, world.row("b", NOON).status]).toEqual(["RETRYING", "SUCCEEDED"]);
    expect(world.did.at(-1)).toBe("flush");
  });

  it("reads its environment at the first invocation, once", async () => {
    const { world, event } = await delivered(["a"]);
    const handler = createConsumer({ send: () => 1 }, { env: world.env });
    expect(world.did).toEqual([]);
    await world.time.finish(handler(event, CONTEXT));
    await world.time.finish(handler(event, CONTEXT));
    expect(world.did).toEqual(["probe", "flush", "probe", "flush"]);
  });

  it("comes with the stock jobs: whatever has no job of its own is logged", async () => {
    const { world, event } = await delivered(["a"], { job: "default" });
    await world.time.finish(createHandler(world.env)(event, CONTEXT));
    expect(world.row("a", NOON).status).toBe("SUCCEEDED");
    expect(world.logs).toContain("info: Ran");
  });
});
