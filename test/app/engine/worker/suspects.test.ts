import { describe, expect, it } from "vitest";
import type { Attempt, Execution } from "../../../../lib/app/engine/run-occurrence.ts";
import { NOON } from "../../../support/occurrences.ts";
import { SUCCEEDED } from "../runner-world.ts";
import { newWorkerWorld, type WorkerWorld } from "./worker-world.ts";

const SECOND = 1_000;
const MINUTE = 60_000;

describe("suspects", () => {
  const crashed = { attempts: 2, fencingToken: 2, suspect: true } as const;

  it("run alone: nothing is started while one waits, and it starts when what ran has ended", async () => {
    const world = newWorkerWorld();
    await world.dispatch(["a"]);
    const begun: string[] = [];
    let running = 0;
    const worker = world.start(
      async ({ row }) => {
        begun.push(`${row.scheduleId} at ${(world.time.now() - NOON) / SECOND}, beside ${running}`);
        running += 1;
        await world.time.host.sleep(10 * SECOND);
        running -= 1;
        return SUCCEEDED;
      },
      { concurrency: 3, prefetch: 5 },
    );
    await world.time.pass(2 * SECOND);
    await world.dispatch(["s1", "s2"], crashed);
    await world.time.pass(2 * SECOND);
    await world.dispatch(["b", "c"]);
    await world.time.pass(MINUTE);
    await worker.finish();
    expect(begun).toEqual([
      "a at 0, beside 0",
      "s1 at 10, beside 0",
      "s2 at 20, beside 0",
      "b at 30, beside 0",
      "c at 30, beside 1",
    ]);
  });

  it("wait for jobs of some minutes, hidden all the while", async () => {
    const world = newWorkerWorld();
    await world.dispatch(["long"], { timeoutSeconds: 20_000 });
    const worker = world.start(lasting(world, { long: 4 * MINUTE }));
    await world.time.pass(SECOND);
    await world.dispatch(["s"], crashed);
    await world.time.pass(5 * MINUTE);
    await worker.finish();
    expect(world.statuses(["long", "s"])).toEqual(["SUCCEEDED", "SUCCEEDED"]);
    expect(worker.told("received").filter((name) => name === "s")).toEqual(["s"]);
  });

  it("do not stop a worker for as long as its longest job: they come again later, and the rest goes on", async () => {
    const world = newWorkerWorld();
    await world.dispatch(["long"], { timeoutSeconds: 43_200 });
    const worker = world.start(lasting(world, { long: 120 * MINUTE }));
    await world.time.pass(SECOND);
    await world.dispatch(["s1", "s2"], crashed);
    await world.time.pass(2 * SECOND);
    await world.dispatch(["b"]);
    await world.time.pass(5 * MINUTE);
    expect(worker.told("handed-back")).toEqual(["s1", "s2"]);
    await world.time.pass(5 * SECOND);
    expect(world.statuses(["long", "s1", "s2", "b"])).toEqual(["RUNNING", "DISPATCHED", "DISPATCHED", "SUCCEEDED"]);
    // Another that comes meanwhile does not stop it anew.
    await world.dispatch(["s3"], crashed);
    await world.time.pass(5 * SECOND);
    await world.dispatch(["c"]);
    await world.time.pass(5 * SECOND);
    expect(world.statuses(["s3", "c"])).toEqual(["DISPATCHED", "SUCCEEDED"]);
    await world.time.pass(180 * MINUTE);
    await worker.finish();
    expect(world.statuses(["long", "s1", "s2", "s3"])).toEqual(Array.from({ length: 4 }, () => "SUCCEEDED"));
  });

  it("find their turn also where every job takes longer than a worker first waits", async () => {
    const world = newWorkerWorld();
    const jobs = Array.from({ length: 40 }, (_, index) => `job-${index}`);
    const worker = world.start(
      async ({ row }) => {
        if (row.scheduleId !== "s") await world.time.host.sleep(9 * MINUTE);
        return SUCCEEDED;
      },
      { concurrency: 2 },
    );
    await world.dispatch(["first"], { timeoutSeconds: 3_600 });
    await world.time.pass(4 * MINUTE);
    await world.dispatch(["s"], crashed);
    await world.time.pass(SECOND);
    await world.dispatch(jobs, { timeoutSeconds: 3_600 });
    await world.time.pass(60 * MINUTE);
    expect(world.statuses(["s"])).toEqual(["SUCCEEDED"]);
    expect(world.statuses(jobs)).toContain("DISPATCHED");
    await worker.finish();
  });

  it("do not run beside a job that ignores its signal", async () => {
    const world = newWorkerWorld();
    await world.dispatch(["deaf"], { timeoutSeconds: 10 });
    let end = () => {};
    const worker = world.start(async ({ row }) => {
      if (row.scheduleId === "deaf") await new Promise<void>((resolve) => (end = resolve));
      return SUCCEEDED;
    });
    await world.time.pass(15 * SECOND);
    await world.dispatch(["s"], crashed);
    await world.time.pass(MINUTE);
    expect(worker.told("received")).toEqual(["deaf", "s"]);
    expect(worker.told("started")).toEqual(["deaf"]);
    end();
    await world.time.pass(SECOND);
    expect(world.statuses(["s"])).toEqual(["SUCCEEDED"]);
    await worker.finish();
  });
});

/** Jobs that take as long as is said of their schedules. */
const lasting =
  (world: WorkerWorld, lengths: Readonly<Record<string, number>>) =>
  async ({ row }: Attempt): Promise<Execution> => {
    await world.time.host.sleep(lengths[row.scheduleId] ?? 0);
    return SUCCEEDED;
  };
