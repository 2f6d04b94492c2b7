import { describe, expect, it } from "vitest";
import { ABORT_GRACE_MS } from "../../../../lib/app/engine/run-occurrence.ts";
import type { Inbox } from "../../../../lib/app/ports.ts";
import { NOON } from "../../../support/occurrences.ts";
import { failed, SUCCEEDED } from "../runner-world.ts";
import { newWorkerWorld } from "./worker-world.ts";

const SECOND = 1_000;
const MINUTE = 60_000;
const succeed = async () => SUCCEEDED;
const refused = async (receipts: readonly string[]) =>
  receipts.map(() => ({ kind: "failed", error: new Error("socket hang up") }) as const);

describe("a queue that fails", () => {
  it("is asked again ever more slowly, for hours, and ends nothing", async () => {
    const world = newWorkerWorld({ random: () => 0.999 });
    await world.dispatch(["a"]);
    const upAgainAt = NOON + 120 * MINUTE;
    const asked: number[] = [];
    const receive: Inbox["receive"] = async (request) => {
      asked.push(world.time.now() - NOON);
      if (world.time.now() >= upAgainAt) return world.inbox.receive(request);
      return { kind: "failed", error: new Error("throttled") };
    };
    const worker = world.start(succeed, { inbox: { receive } });
    await world.time.pass(121 * MINUTE);
    await worker.finish();
    expect(world.statuses(["a"])).toEqual(["SUCCEEDED"]);
    const pauses = asked.slice(1).map((at, index) => Math.round((at - (asked[index] ?? 0)) / SECOND));
    expect(pauses.slice(0, 7)).toEqual([1, 2, 4, 8, 16, 30, 30]);
    expect(worker.events).toContainEqual(expect.objectContaining({ kind: "error", doing: "receive" }));
  });

  it("is not asked without a pause where it answers at once and has nothing", async () => {
    const world = newWorkerWorld();
    let asked = 0;
    const receive: Inbox["receive"] = async () => {
      asked += 1;
      return { kind: "received", messages: [] };
    };
    const worker = world.start(succeed, { inbox: { receive } });
    await world.time.pass(MINUTE);
    await worker.finish();
    expect(asked).toBeLessThanOrEqual(62);
  });
});

describe("an acknowledgement that fails", () => {
  it("is tried again until it is taken (F292)", async () => {
    const world = newWorkerWorld();
    await world.dispatch(["a"]);
    let tries = 0;
    const acknowledge: Inbox["acknowledge"] = async (receipts) => {
      tries += 1;
      return tries < 3 ? refused(receipts) : world.inbox.acknowledge(receipts);
    };
    const worker = world.start(succeed, { inbox: { acknowledge } });
    await world.time.pass(10 * SECOND);
    expect(tries).toBe(3);
    expect(world.left()).toBe(0);
    await worker.finish();
  });

  it("is given up after some tries; the redelivery meets what is done and changes nothing (F292)", async () => {
    const world = newWorkerWorld();
    await world.dispatch(["a"]);
    let tries = 0;
    const acknowledge: Inbox["acknowledge"] = async (receipts) => {
      tries += 1;
      return tries <= 4 ? refused(receipts) : world.inbox.acknowledge(receipts);
    };
    const worker = world.start(succeed, { inbox: { acknowledge } });
    await world.time.pass(10 * SECOND);
    const done = world.row("a", NOON);
    expect(tries).toBe(4);
    await world.time.pass(2 * MINUTE);
    expect(worker.told("started")).toEqual(["a"]);
    expect(worker.events.findLast(({ kind }) => kind === "ended")).toMatchObject({ result: { kind: "not-mine" } });
    expect(world.row("a", NOON)).toEqual(done);
    expect(world.left()).toBe(0);
    await worker.finish();
  });

  it("holds up no other: those that come meanwhile go together", async () => {
    const world = newWorkerWorld();
    const names = ["a", "b", "c", "d"];
    await world.dispatch(names);
    const requests: number[] = [];
    const acknowledge: Inbox["acknowledge"] = async (receipts) => {
      requests.push(receipts.length);
      await world.time.host.sleep(SECOND);
      return world.inbox.acknowledge(receipts);
    };
    const worker = world.start(succeed, { inbox: { acknowledge } });
    await world.time.pass(5 * SECOND);
    await worker.finish();
    expect(requests).toEqual([1, 3]);
    expect(world.left()).toBe(0);
  });
});

describe("a worker that is to end", () => {
  it("lets what runs finish and report, starts nothing, and hands back what waits at once", async () => {
    const world = newWorkerWorld();
    await world.dispatch(["a", "b"]);
    const worker = world.start(
      async () => {
        await world.time.host.sleep(5 * SECOND);
        return SUCCEEDED;
      },
      { concurrency: 1, prefetch: 1 },
    );
    await world.time.pass(SECOND);
    worker.drain();
    expect(worker.told("handed-back")).toEqual(["b"]);
    // Another worker can take it while the first is still busy.
    const other = world.start(succeed);
    await world.time.pass(SECOND);
    expect(world.statuses(["a", "b"])).toEqual(["RUNNING", "SUCCEEDED"]);
    await other.finish();
    expect(await worker.finish()).toEqual({ reason: "shutdown", abandoned: [] });
    expect(world.statuses(["a"])).toEqual(["SUCCEEDED"]);
    expect(world.left()).toBe(0);
    expect(worker.events.map(({ kind }) => kind).slice(-2)).toEqual(["ended", "stopped"]);
  });

  it("hands back what is about to start, and takes no attempt of it", async () => {
    const world = newWorkerWorld();
    await world.dispatch(["a"]);
    const freshen = () => world.time.host.sleep(5 * SECOND);
    const worker = world.start(succeed, { freshen });
    await world.time.pass(SECOND);
    worker.drain();
    worker.abort();
    await worker.finish();
    expect(world.row("a", NOON)).toMatchObject({ status: "DISPATCHED", attempts: 1 });
    expect(worker.told("started")).toEqual([]);
    expect(worker.events).toContainEqual(expect.objectContaining({ kind: "handed-back", visibleInSeconds: 0 }));
    expect(world.left()).toBe(1);
  });

  it("aborts what outlasts its grace, as retryable, and reports it", async () => {
    const world = newWorkerWorld();
    await world.dispatch(["a"]);
    const worker = world.start(async ({ signal }) => {
      await world.time.host.sleep(30 * SECOND, signal);
      return signal.aborted ? failed() : SUCCEEDED;
    });
    await world.time.pass(SECOND);
    worker.drain();
    await world.time.pass(5 * SECOND);
    worker.abort();
    expect(await worker.finish()).toEqual({ reason: "shutdown", abandoned: [] });
    expect(world.row("a", NOON)).toMatchObject({ status: "RETRYING", lastError: { name: "AbortError" } });
    expect(world.left()).toBe(0);
  });

  it("is not kept from its end by a job that ignores its signal, and names it", async () => {
    const world = newWorkerWorld();
    await world.dispatch(["a"]);
    const worker = world.start(() => new Promise(() => undefined));
    await world.time.pass(SECOND);
    worker.drain();
    worker.abort();
    const abortedAt = world.time.now();
    expect(await worker.finish()).toEqual({ reason: "shutdown", abandoned: ["a@2026-11-29T12:00:00.000Z"] });
    expect(world.time.now() - abortedAt).toBeLessThanOrEqual(ABORT_GRACE_MS);
    expect(world.row("a", NOON).status).toBe("RETRYING");
  });

  it("ends at once while it waits for a message, and hands back what that receive still brings", async () => {
    const world = newWorkerWorld();
    const receive: Inbox["receive"] = async (request) => {
      await world.time.host.sleep(20 * SECOND, request.signal);
      return world.inbox.receive({ ...request, signal: new AbortController().signal, waitSeconds: 0 });
    };
    const worker = world.start(succeed, { inbox: { receive } });
    await world.time.pass(SECOND);
    await world.dispatch(["a"]);
    const before = world.time.now();
    await worker.finish();
    expect(world.time.now()).toBe(before);
    expect(worker.told("handed-back")).toEqual(["a"]);
    expect(world.queues.peek("default")[0]).not.toHaveProperty("invisibleUntil");
  });

  it("before it began ends without a receive", async () => {
    const world = newWorkerWorld();
    await world.dispatch(["a"]);
    const worker = world.start(succeed, { inbox: {} });
    await worker.finish();
    expect(world.left()).toBe(1);
  });
});

describe("a job that ignores its signal", () => {
  it("keeps its place until it ends: no more run in a process than were asked for", async () => {
    const world = newWorkerWorld();
    await world.dispatch(["deaf"], { timeoutSeconds: 10 });
    let end = () => {};
    const begun: string[] = [];
    const worker = world.start(
      async ({ row }) => {
        begun.push(`${row.scheduleId} at ${(world.time.now() - NOON) / SECOND}`);
        if (row.scheduleId !== "deaf") await world.time.host.sleep(10 * SECOND);
        else await new Promise<void>((resolve) => (end = resolve));
        return SUCCEEDED;
      },
      { concurrency: 2, prefetch: 2 },
    );
    await world.time.pass(20 * SECOND);
    expect(world.statuses(["deaf"])).toEqual(["RETRYING"]);
    await world.dispatch(["a", "b"]);
    await world.time.pass(15 * SECOND);
    expect(world.statuses(["a", "b"])).toEqual(["SUCCEEDED", "RUNNING"]);
    end();
    await world.time.pass(0);
    await world.dispatch(["c"]);
    await world.time.pass(2 * SECOND);
    expect(world.statuses(["b", "c"])).toEqual(["RUNNING", "RUNNING"]);
    expect(await worker.finish()).toEqual({ reason: "shutdown", abandoned: [] });
    expect(begun).toHaveLength(4);
  });

  it("ends the worker when no place is left, since only the end of the process ends such jobs", async () => {
    const world = newWorkerWorld();
    await world.dispatch(["a", "b", "c"], { timeoutSeconds: 10 });
    const worker = world.start(() => new Promise(() => undefined), { concurrency: 2, prefetch: 1 });
    await world.time.pass(15 * SECOND);
    expect(worker.events).toContainEqual({ kind: "stopping", reason: "stuck" });
    expect(worker.told("handed-back")).toEqual(["c"]);
    expect(await worker.finish()).toMatchObject({ reason: "stuck", abandoned: { length: 2 } });
    expect(world.statuses(["a", "b", "c"])).toEqual(["RETRYING", "RETRYING", "DISPATCHED"]);
  });
});
