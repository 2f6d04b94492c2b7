import { describe, expect, it } from "vitest";
import { deadLetterMessage } from "../../../../lib/app/engine/announce.ts";
import { visitRows } from "../../../../lib/app/engine/visit-rows.ts";
import { DEAD_LETTER_QUEUE, type Inbox } from "../../../../lib/app/ports.ts";
import { plusMs } from "../../../../lib/core/instant.ts";
import { NOON } from "../../../support/occurrences.ts";
import { visitDue } from "../../../support/world.ts";
import { failed, SUCCEEDED } from "../runner-world.ts";
import { newWorkerWorld, VISIBILITY_SECONDS } from "./worker-world.ts";

const SECOND = 1_000;
const MINUTE = 60_000;
const succeed = async () => SUCCEEDED;

describe("a worker", () => {
  it("runs what its queue holds, tells of it, and acknowledges", async () => {
    const world = newWorkerWorld();
    await world.dispatch(["a", "b"]);
    const worker = world.start(succeed);
    await world.time.pass(SECOND);
    expect(world.statuses(["a", "b"])).toEqual(["SUCCEEDED", "SUCCEEDED"]);
    expect(world.left()).toBe(0);
    expect(worker.events.filter((event) => "messageId" in event)).toMatchObject([
      { kind: "received", receives: 1 },
      { kind: "received", receives: 1 },
      { kind: "started", attempt: { scheduleId: "a", job: "send", attempt: 1, fencingToken: 1 } },
      { kind: "started", attempt: { scheduleId: "b" } },
      { kind: "ended", result: { kind: "reported", outcome: "succeeded" } },
      { kind: "ended", result: { kind: "reported", outcome: "succeeded" } },
    ]);
    expect(await worker.finish()).toEqual({ reason: "shutdown", abandoned: [] });
  });

  it("waits for messages, and takes one that comes at any time", async () => {
    const world = newWorkerWorld();
    const worker = world.start(succeed);
    for (const name of ["a", "b"]) {
      await world.time.pass(10 * MINUTE);
      await world.dispatch([name]);
    }
    await world.time.pass(5 * SECOND);
    await worker.finish();
    expect(world.statuses(["a", "b"])).toEqual(["SUCCEEDED", "SUCCEEDED"]);
  });

  it("runs no more at a time than it is told, and receives no more than it may hold", async () => {
    const world = newWorkerWorld();
    const names = ["a", "b", "c", "d", "e", "f"];
    await world.dispatch(names);
    let [running, most] = [0, 0];
    const worker = world.start(
      async () => {
        running += 1;
        most = Math.max(most, running);
        await world.time.host.sleep(5 * SECOND);
        running -= 1;
        return SUCCEEDED;
      },
      { concurrency: 2, prefetch: 1 },
    );
    await world.time.pass(SECOND);
    expect(worker.told("received")).toEqual(["a", "b", "c"]);
    await world.time.pass(MINUTE);
    await worker.finish();
    expect(most).toBe(2);
    expect(world.statuses(names)).toEqual(names.map(() => "SUCCEEDED"));
  });

  it("lets each end be its own: of a batch, what failed comes again by itself and the rest is done (F293)", async () => {
    const world = newWorkerWorld({
      occurrences: (real) => ({
        write: async (writes) => {
          const isHit = writes.some(({ key }) => key.scheduleId === "unstartable");
          return isHit ? writes.map(() => ({ kind: "failed", error: new Error("throttled") })) : real.write(writes);
        },
      }),
    });
    await world.dispatch(["a", "unstartable", "b"]);
    const worker = world.start(async ({ row }) => (row.scheduleId === "b" ? failed() : SUCCEEDED));
    await world.time.pass(4 * SECOND);
    await worker.finish();
    expect(world.statuses(["a", "unstartable", "b"])).toEqual(["SUCCEEDED", "DISPATCHED", "RETRYING"]);
    expect(worker.events).toContainEqual({
      kind: "handed-back",
      messageId: expect.anything(),
      reason: "the store did not take the start",
      visibleInSeconds: 5,
    });
    expect(world.left()).toBe(1);
  });

  it("hands back ever later what it still cannot start, so that no queue takes it away for its receives", async () => {
    const world = newWorkerWorld({
      occurrences: () => ({
        write: async (writes) => writes.map(() => ({ kind: "failed", error: new Error("throttled") })),
      }),
    });
    await world.dispatch(["a"]);
    const worker = world.start(succeed);
    await world.time.pass(10 * MINUTE);
    await worker.finish();
    const waits = worker.events.flatMap((event) => (event.kind === "handed-back" ? [event.visibleInSeconds] : []));
    expect(waits).toEqual([5, 10, 20, 40, 80, 160, 320]);
  });

  it("acknowledges a redelivery of what it runs: a job may outlast any visibility", async () => {
    const world = newWorkerWorld();
    await world.dispatch(["a"], { timeoutSeconds: 7_200 });
    const worker = world.start(async () => {
      await world.time.host.sleep(60 * MINUTE);
      return SUCCEEDED;
    });
    await world.time.pass(10 * MINUTE);
    expect(world.left()).toBe(0);
    expect(world.statuses(["a"])).toEqual(["RUNNING"]);
    await worker.finish();
    expect(world.statuses(["a"])).toEqual(["SUCCEEDED"]);
    expect(worker.told("started")).toEqual(["a"]);
  });

  it("keeps the lease of a long job, so that no dispatcher takes it from a live owner (F326)", async () => {
    const world = newWorkerWorld();
    await world.dispatch(["a"], { timeoutSeconds: 7_200 });
    const worker = world.start(async ({ signal }) => {
      await world.time.host.sleep(60 * MINUTE, signal);
      return signal.aborted ? failed() : SUCCEEDED;
    });
    for (let minute = 0; minute < 59; minute += 1) {
      await world.time.pass(MINUTE);
      await world.time.finish(visitDue(world));
    }
    await worker.finish();
    expect(world.row("a", NOON)).toMatchObject({ status: "SUCCEEDED", attempts: 1, fencingToken: 1 });
  });

  it("reports a lease that another took as lost, once, and goes on with the next (F325)", async () => {
    const world = newWorkerWorld();
    await world.dispatch(["a"]);
    const worker = world.start(async ({ row, signal }) => {
      if (row.scheduleId === "b") return SUCCEEDED;
      // As in a process that stands still past its lease while a dispatcher takes the attempt away.
      world.time.leap(MINUTE);
      await visitRows(world.engine, (await world.engine.occurrences.due(DUE(world.time.now()))).rows);
      await world.time.host.sleep(SECOND, signal);
      return SUCCEEDED;
    });
    await world.time.pass(SECOND);
    await world.dispatch(["b"]);
    worker.drain();
    await worker.finish();
    expect(worker.events.filter(({ kind }) => kind === "ended")).toMatchObject([{ result: { kind: "stale" } }]);
    expect(world.counts.get("StaleReports")).toBe(1);
    expect(world.row("a", NOON)).toMatchObject({ status: "DISPATCHED", attempts: 2, fencingToken: 2 });
  });

  it("sets aside what nobody can read, once, also where the message comes again after a crash (F310)", async () => {
    const world = newWorkerWorld();
    await world.send("odd", '{"not":"one of ours"}');
    const deaf: Partial<Inbox> = { acknowledge: async (receipts) => receipts.map(() => ({ kind: "stale" })) };
    const first = world.start(succeed, { inbox: deaf });
    await world.time.pass(SECOND);
    await first.finish();
    expect(world.left()).toBe(1);
    const second = world.start(succeed);
    await world.time.pass(MINUTE);
    await second.finish();
    expect(second.events).toContainEqual(expect.objectContaining({ kind: "ended", result: { kind: "set-aside" } }));
    expect(world.left()).toBe(0);
    expect(world.queues.peek(DEAD_LETTER_QUEUE)).toHaveLength(1);
  });

  it("replays a redriven dead letter", async () => {
    const world = newWorkerWorld();
    await world.dispatch(["a"]);
    const dead = { deadLetterReason: "attempts-exhausted", deadLetterShard: 0, deadLetteredAt: NOON } as const;
    const key = world.row("a", NOON);
    const change = { set: { status: "DEAD_LETTERED", attempts: 10, ...dead } } as const;
    await world.engine.occurrences.write([{ key, guard: [], change }]);
    await world.send("redriven", deadLetterMessage(world.row("a", NOON)).body);
    const worker = world.start(succeed);
    await world.time.pass(SECOND);
    await worker.finish();
    expect(world.row("a", NOON)).toMatchObject({ status: "PENDING", attempts: 0 });
    expect(world.left()).toBe(0);
  });

  it("finds out about the time before each delivery", async () => {
    const world = newWorkerWorld();
    await world.dispatch(["a", "b"]);
    let freshened = 0;
    const freshen = async () => {
      freshened += 1;
    };
    const worker = world.start(succeed, { freshen });
    await world.time.pass(SECOND);
    await worker.finish();
    expect(freshened).toBe(2);
  });

  it.each([
    [
      "at once",
      () => {
        throw new Error("no watcher");
      },
    ],
    ["later", () => Promise.reject(new Error("no watcher"))],
  ])("goes on when whoever watches fails %s", async (_, onEvent) => {
    const world = newWorkerWorld();
    await world.dispatch(["a"]);
    const worker = world.start(succeed, { onEvent });
    await world.time.pass(SECOND);
    await worker.finish();
    expect(world.statuses(["a"])).toEqual(["SUCCEEDED"]);
    expect(world.logs.some((line) => line.startsWith("error: an observer of the worker failed"))).toBe(true);
  });
});

describe("messages that wait", () => {
  /** A worker whose one place is taken for `busyMs`, with `b` waiting behind. */
  async function oneWaiting(busyMs: number, inbox: (real: Inbox) => Partial<Inbox> = () => ({})) {
    const world = newWorkerWorld();
    await world.dispatch(["a", "b"], { timeoutSeconds: 43_200 });
    const worker = world.start(
      async ({ row }) => {
        if (row.scheduleId === "a") await world.time.host.sleep(busyMs);
        return SUCCEEDED;
      },
      { concurrency: 1, prefetch: 1, inbox: inbox(world.inbox) },
    );
    await world.time.pass(SECOND);
    return { world, worker };
  }

  it("stay hidden until they are started (F295)", async () => {
    const { world, worker } = await oneWaiting(10 * MINUTE);
    expect(worker.told("received")).toEqual(["a", "b"]);
    await world.time.pass(9 * MINUTE);
    const waiting = world.queues.peek("default").find(({ body }) => body.includes('"scheduleId":"b"'));
    expect(waiting).toMatchObject({ invisibleUntil: expect.any(Number), receiveCount: 1 });
    await world.time.pass(2 * MINUTE);
    await worker.finish();
    expect(world.statuses(["a", "b"])).toEqual(["SUCCEEDED", "SUCCEEDED"]);
    expect(worker.told("started")).toEqual(["a", "b"]);
  });

  it("stay hidden though SQS refuses that twice in a row, time and again", async () => {
    let times = 0;
    const everyThird = ({ hide }: Inbox): Inbox["hide"] => {
      const refused = { kind: "failed", error: new Error("throttled") } as const;
      return async (receipts, seconds) => (++times % 3 === 0 ? hide(receipts, seconds) : receipts.map(() => refused));
    };
    const { world, worker } = await oneWaiting(10 * MINUTE, (real) => ({ hide: everyThird(real) }));
    await world.time.pass(9 * MINUTE);
    expect(worker.told("lapsed")).toEqual([]);
    expect(worker.told("received")).toEqual(["a", "b"]);
    expect(times).toBeGreaterThan(3);
    await world.time.pass(2 * MINUTE);
    await worker.finish();
  });

  it("are not started once their visibility may have ended, but left to who receives them next (F295)", async () => {
    const lost: Inbox["hide"] = async (receipts) =>
      receipts.map(() => ({ kind: "failed", error: new Error("no answer") }));
    const { world, worker } = await oneWaiting(2 * VISIBILITY_SECONDS * SECOND, () => ({ hide: lost }));
    await world.time.pass(2 * VISIBILITY_SECONDS * SECOND);
    expect(worker.told("lapsed")).toEqual(["b"]);
    expect(worker.events).toContainEqual(expect.objectContaining({ kind: "error", doing: "hide" }));
    // It is received anew, and run then.
    expect(worker.told("received").filter((name) => name === "b")).toEqual(["b", "b"]);
    await worker.finish();
    expect(world.statuses(["b"])).toEqual(["SUCCEEDED"]);
  });

  it("are let go when SQS says that somebody else may have them", async () => {
    const stale: Inbox["hide"] = async (receipts) => receipts.map(() => ({ kind: "stale" }));
    const { world, worker } = await oneWaiting(10 * MINUTE, () => ({ hide: stale }));
    await world.time.pass(VISIBILITY_SECONDS * SECOND);
    expect(worker.told("lapsed")).toEqual(["b"]);
    await worker.finish();
  });

  it("are handed back before SQS would let them go, twelve hours after their receive", async () => {
    const { world, worker } = await oneWaiting(11.99 * 60 * MINUTE);
    await world.time.pass(12 * 60 * MINUTE);
    expect(worker.told("handed-back")).toEqual(["b"]);
    await worker.finish();
    expect(world.statuses(["a", "b"])).toEqual(["SUCCEEDED", "SUCCEEDED"]);
    expect(worker.told("lapsed")).toEqual([]);
  });
});

const DUE = (until: number) => ({ shard: 0, until: plusMs(NOON, until - NOON), limit: 10 });
