import { describe, expect, it, vi } from "vitest";
import { createMemoryInbox } from "../../lib/adapters/memory/inbox.ts";
import type { WorkerEvent } from "../../lib/app/engine/worker/events.ts";
import type { Inbox } from "../../lib/app/ports.ts";
import { plusMs } from "../../lib/core/instant.ts";
import { encodeMessage, messageOf } from "../../lib/core/message.ts";
import { createWorker } from "../../lib/jobs/create-worker.ts";
import type { JobMap } from "../../lib/jobs/types.ts";
import type { WorkerOptions } from "../../lib/jobs/worker-options.ts";
import { engineOf, newDeployedWorld } from "../functions/deployed-world.ts";
import { anOccurrence, NOON } from "../support/occurrences.ts";

const inboxes = new Map<string, Inbox>();
let worlds = 0;

vi.mock("../../lib/runtime/create-engine.ts", async () => ({
  createEngine: (await import("../functions/deployed-world.ts")).engineOf,
  createDeployedInbox: (url: string) => inboxes.get(url),
}));

const SECOND = 1_000;

/** A world with a dispatched row of each name, whose messages lie in the queue; and a worker's options for it. */
async function delivered(names: readonly string[], more: Partial<WorkerOptions> = {}) {
  const world = newDeployedWorld();
  const lease = { owner: "d", leaseUntil: plusMs(NOON, 60_000) };
  const held = { status: "DISPATCHED", attempts: 1, fencingToken: 1, ...lease } as const;
  await world.engine.occurrences.insert(
    names.map((scheduleId) => anOccurrence({ scheduleId, payload: '{"n":1}', ...held })),
  );
  await world.queues.send(
    names.map((name) => {
      const row = world.row(name, NOON);
      return { queue: "default", deduplicationId: row.occurrenceId, body: encodeMessage(messageOf(row)) };
    }),
  );
  worlds += 1;
  const queueUrl = `https://sqs.example/${worlds}/main.fifo`;
  inboxes.set(queueUrl, createMemoryInbox({ queues: world.queues, queue: "default", host: world.time.host }));
  const events: WorkerEvent[] = [];
  const options = { env: world.env, queueUrl, onEvent: (event: WorkerEvent) => void events.push(event), ...more };
  return { world, options, events };
}

const sleepingFor =
  (host: { sleep(ms: number, signal?: AbortSignal): Promise<void> }, ms: number): JobMap[string] =>
  async (_, { signal }) => {
    await host.sleep(ms, signal);
    signal.throwIfAborted();
    return "done";
  };

describe("a worker", () => {
  it("runs jobs like a consumer, with where its logs are on the rows, and tells what happens", async () => {
    const { world, options, events } = await delivered(["a"], { logs: "container 1" });
    const worker = createWorker({ ...options, jobs: { send: (payload) => ({ got: payload }) } });
    worker.start();
    await world.time.pass(SECOND);
    expect(world.row("a", NOON)).toMatchObject({
      status: "SUCCEEDED",
      output: '{"got":{"n":1}}',
      log: [{ logs: "container 1" }],
    });
    expect(events.map(({ kind }) => kind)).toEqual(["received", "started", "ended"]);
    expect(await world.time.finish(worker.shutdown())).toEqual({ reason: "shutdown", abandoned: [] });
    expect(await worker.ended).toEqual({ reason: "shutdown", abandoned: [] });
  });

  it("asks for the time before each delivery, and writes its metrics also when it has grown quiet, and at its end", async () => {
    const { world, options } = await delivered(["a"]);
    const worker = createWorker({ ...options, jobs: { send: () => 1 } });
    worker.start();
    await world.time.pass(SECOND);
    expect(world.did).toEqual(["probe"]);
    await world.time.pass(60 * SECOND);
    expect(world.did).toEqual(["probe", "flush", "flush"]);
    await world.time.finish(worker.shutdown());
    expect(world.did.length).toBeGreaterThan(4);
    expect(world.did.at(-1)).toBe("flush");
  });

  it("lets what runs finish within its grace", async () => {
    const { world, options } = await delivered(["a"]);
    const worker = createWorker({ ...options, jobs: { send: sleepingFor(world.time.host, 15 * SECOND) } });
    worker.start();
    await world.time.pass(SECOND);
    await world.time.finish(worker.shutdown());
    expect(world.row("a", NOON).status).toBe("SUCCEEDED");
    expect(world.time.now()).toBe(plusMs(NOON, 15 * SECOND));
  });

  it("aborts it when the grace is over, and the shortest grace counts", async () => {
    const { world, options } = await delivered(["a"]);
    const worker = createWorker({ ...options, jobs: { send: sleepingFor(world.time.host, 50 * SECOND) } });
    worker.start();
    await world.time.pass(SECOND);
    const shutdowns = [worker.shutdown({ graceSeconds: 30 }), worker.shutdown({ graceSeconds: 4 })];
    await world.time.finish(Promise.all(shutdowns));
    expect(world.row("a", NOON)).toMatchObject({
      status: "RETRYING",
      lastError: { name: "AbortError", message: "the worker is shutting down" },
    });
    expect(world.time.now()).toBe(plusMs(NOON, 5 * SECOND));
  });

  it("is shut down when its scope ends", async () => {
    const { world, options, events } = await delivered([]);
    const worker = createWorker({ ...options, jobs: {} });
    worker.start();
    await world.time.finish(Promise.resolve(worker[Symbol.asyncDispose]()));
    expect(events.at(-1)).toMatchObject({ kind: "stopped" });
  });

  it("starts once, and not after its end", async () => {
    const { world, options } = await delivered(["a"]);
    const worker = createWorker({ ...options, jobs: { send: () => 1 } });
    expect(await worker.shutdown()).toEqual({ reason: "shutdown", abandoned: [] });
    expect(() => worker.start()).toThrow("a worker can be started once only");
    expect(world.row("a", NOON).status).toBe("DISPATCHED");
  });
});

describe("signals", () => {
  it("shut the worker down and end its process, well where all is reported", async () => {
    const exits: number[] = [];
    const { world, options } = await delivered(["a"], { signals: true, exit: (code) => void exits.push(code) });
    const before = process.listenerCount("SIGTERM");
    const worker = createWorker({ ...options, jobs: { send: sleepingFor(world.time.host, 5 * SECOND) } });
    worker.start();
    await world.time.pass(SECOND);
    expect(process.listenerCount("SIGTERM")).toBe(before + 1);
    process.emit("SIGTERM", "SIGTERM");
    await world.time.finish(worker.ended);
    expect(world.row("a", NOON).status).toBe("SUCCEEDED");
    expect(exits).toEqual([0]);
    expect(process.listenerCount("SIGTERM")).toBe(before);
  });

  it("end it at once the second time, also where no signal does so by itself, as to a container's first process", async () => {
    const exits: number[] = [];
    const { world, options } = await delivered(["a"], { signals: true, exit: (code) => void exits.push(code) });
    const worker = createWorker({ ...options, jobs: { send: sleepingFor(world.time.host, 5 * SECOND) } });
    worker.start();
    await world.time.pass(SECOND);
    process.emit("SIGTERM", "SIGTERM");
    expect(exits).toEqual([]);
    process.emit("SIGINT", "SIGINT");
    expect(exits).toEqual([1]);
    await world.time.finish(worker.ended);
  });

  it("end it with a failure, and say why, where the worker fails", async () => {
    const exits: number[] = [];
    const { world, options } = await delivered([], { signals: true, exit: (code) => void exits.push(code) });
    engineOf(world.env).metrics.flush = () => {
      throw new Error("no output");
    };
    const worker = createWorker({ ...options, jobs: {} });
    worker.start();
    process.emit("SIGTERM", "SIGTERM");
    await expect(world.time.finish(worker.ended)).rejects.toThrow("no output");
    expect(exits).toEqual([1]);
    expect(world.logs).toContainEqual(expect.stringMatching(/^error: the worker failed .*no output/));
  });

  it("end it with a failure where a job ignored its abort", async () => {
    const exits: number[] = [];
    const { world, options } = await delivered(["a"], { signals: true, exit: (code) => void exits.push(code) });
    const worker = createWorker({ ...options, jobs: { send: () => new Promise(() => undefined) } });
    worker.start();
    await world.time.pass(SECOND);
    process.emit("SIGINT", "SIGINT");
    expect(await world.time.finish(worker.ended)).toMatchObject({ abandoned: ["a@2026-11-29T12:00:00.000Z"] });
    expect(exits).toEqual([1]);
  });

  it("are nobody's where they were not asked for, and a shutdown by the program ends no process", async () => {
    const exits: number[] = [];
    const { world, options } = await delivered([], { exit: (code) => void exits.push(code) });
    const before = process.listenerCount("SIGTERM");
    const worker = createWorker({ ...options, jobs: {} });
    worker.start();
    expect(process.listenerCount("SIGTERM")).toBe(before);
    await world.time.finish(worker.shutdown());
    expect(exits).toEqual([]);
  });
});

describe("a worker's options", () => {
  it("are checked together, each with what it may be", () => {
    const { env } = newDeployedWorld();
    const options = { concurrency: 0, prefetch: 1.5, waitSeconds: 21, queue: "slow", queueUrl: "http://sqs/1/main" };
    expect(() => createWorker({ jobs: {}, env, ...options })).toThrow(
      "the worker's options are not valid: concurrency: must be a whole number from 1 to 1000, got 0; " +
        "prefetch: must be a whole number from 0 to 1000, got 1.5; " +
        "waitSeconds: must be a whole number from 1 to 20, got 21; " +
        "queue: must be one of default, plain, got slow; " +
        "queueUrl: must be a URL that ends with .fifo, got http://sqs/1/main",
    );
  });

  it("name a queue of the deployment's", () => {
    const { env } = newDeployedWorld();
    expect(() => createWorker({ jobs: {}, env, queue: "slow" })).toThrow(
      "queue: must be one of default, plain, got slow",
    );
  });

  it("name a queue whose runs are reported", () => {
    const { env } = newDeployedWorld();
    expect(() => createWorker({ jobs: {}, env, queue: "plain" })).toThrow(
      "queue: must be one whose runs are reported, not done once they are enqueued, got plain",
    );
  });
});
