import { describe, expect, it, vi } from "vitest";
import { createHandler } from "../../functions/reconciler.ts";
import { type Instant, plusMs, toIso } from "../../lib/core/instant.ts";
import { definitionVersion } from "../../lib/core/schedule-version.ts";
import { NOON } from "../support/occurrences.ts";
import { type DeployedWorld, newDeployedWorld, streamRecord } from "./deployed-world.ts";

vi.mock("../../lib/runtime/create-engine.ts", async () => ({
  createEngine: (await import("./deployed-world.ts")).engineOf,
}));

const PLENTY = { getRemainingTimeInMillis: () => 600_000 };
const hourly = (scheduleId: string, given = {}) => ({ scheduleId, cron: "0 * * * *", ...given });
const put = (number: string, item: { readonly scheduleId: string }, at: Instant) =>
  streamRecord(number, { scheduleId: item.scheduleId }, item, at);
const handle = (world: DeployedWorld, ...Records: ReturnType<typeof put>[]) =>
  world.time.finish(createHandler(world.env)({ Records }, PLENTY));

describe("the reconciler", () => {
  it("starts the chain of each schedule that a record tells of", async () => {
    const world = newDeployedWorld({ start: plusMs(NOON, 60_000) });
    for (const name of ["a", "b"]) world.put(hourly(name));
    const records = ["a", "b"].map((name, index) => put(String(index), hourly(name), plusMs(NOON, 30_000)));
    expect(await handle(world, ...records)).toEqual({ batchItemFailures: [] });
    for (const name of ["a", "b"]) expect(world.history(name)).toEqual([`${toIso(plusMs(NOON, 3_600_000))} PENDING`]);
    expect(world.did).toEqual(["probe", "flush"]);
  });

  it("notes the shards it inserts into, for a deployment whose dispatcher has not run yet", async () => {
    const world = newDeployedWorld({ start: plusMs(NOON, 60_000), settings: { shards: 16 } });
    world.put(hourly("a"));
    await handle(world, put("1", hourly("a"), plusMs(NOON, 30_000)));
    expect(await world.engine.occurrences.shardHighWater(1)).toBe(16);
  });

  it("counts an edit from its own record, whatever was written on the item after it", async () => {
    const world = newDeployedWorld({ start: plusMs(NOON, 5_000) });
    const item = hourly("a");
    const noted = { ...item, note: "an operator's" };
    world.put(noted);
    await handle(world, put("1", item, plusMs(NOON, -1_000)), put("2", noted, plusMs(NOON, 2_000)));
    expect(world.row("a", NOON)).toMatchObject({ status: "PENDING", dueAt: NOON });
  });

  it("counts from the newest of several edits in a batch", async () => {
    const world = newDeployedWorld({ start: plusMs(NOON, 5_000) });
    world.put(hourly("a"));
    await handle(
      world,
      put("1", hourly("a", { payload: 1 }), plusMs(NOON, -2_000)),
      put("2", hourly("a"), plusMs(NOON, 1_000)),
    );
    expect(world.history("a")).toEqual([`${toIso(plusMs(NOON, 3_600_000))} PENDING`]);
  });

  it("has what failed brought again from its first record on, and does the rest", async () => {
    const world = newDeployedWorld({
      schedules: (real) => ({
        read: async (ids) =>
          ids.includes("bad") ? ids.map(() => ({ kind: "failed", error: new Error("throttled") })) : real.read(ids),
      }),
    });
    for (const name of ["a", "bad", "c"]) world.put(hourly(name));
    const answer = await handle(
      world,
      ...["a", "bad", "c", "bad"].map((name, index) => put(`seq-${index}`, hourly(name), NOON)),
    );
    expect(answer).toEqual({ batchItemFailures: [{ itemIdentifier: "seq-1" }] });
    expect(world.history("a")).toHaveLength(1);
    expect(world.history("c")).toHaveLength(1);
  });

  it("tells the bus of an invalid definition once, however many records there are of it", async () => {
    const world = newDeployedWorld();
    const bad = (payload: number) => ({ scheduleId: "bad", cron: "no", payload });
    const edit = async (item: ReturnType<typeof bad>) => {
      const before = world.store.allSchedules()[0];
      await world.engine.schedules.put(item, "any");
      await handle(world, change(before));
      // By its own write of the status, and by an operator's.
      const [written] = world.store.allSchedules();
      await handle(world, change({ ...written, status: before?.["status"] }), change(written));
    };
    const change = (before: object | undefined) =>
      streamRecord("1", { scheduleId: "bad" }, world.store.allSchedules()[0], NOON, before);
    await edit(bad(1));
    await edit(bad(2));
    const versions = world.bus.published.map(({ detail }) => detail["scheduleVersion"]);
    expect(versions).toEqual([definitionVersion(bad(1)), definitionVersion(bad(2))]);
    expect(world.bus.published[0]).toMatchObject({
      detailType: "Schedule Invalid",
      detail: { scheduleId: "bad", problem: expect.stringMatching(/^cron: /) },
    });
  });

  it("has a record brought again whose news the bus did not take", async () => {
    const world = newDeployedWorld();
    world.bus.publish = async (announcements) =>
      announcements.map(() => ({ kind: "failed", error: new Error("throttled") }));
    const status = { state: "INVALID", version: "1", since: toIso(NOON), problem: "cron: no" };
    const records = [put("seq-0", hourly("a"), NOON), put("seq-1", hourly("b", { status }), NOON)];
    expect(await handle(world, ...records)).toEqual({ batchItemFailures: [{ itemIdentifier: "seq-1" }] });
    expect(world.logs).toContainEqual(expect.stringMatching(/^warn: news of a schedule .*throttled/));
  });

  it("ends a deleted schedule's chain", async () => {
    const world = newDeployedWorld();
    world.put(hourly("a"));
    await handle(world, put("1", hourly("a"), NOON));
    await world.engine.schedules.remove("a");
    await handle(world, streamRecord("2", { scheduleId: "a" }, undefined, NOON));
    expect(world.history("a")).toEqual([]);
  });

  it("removes a schedule whose run a record of Occurrences says to be over, and tells it no time of writing", async () => {
    const world = newDeployedWorld();
    const once = { scheduleId: "once", at: toIso(NOON), deleteAfterCompletion: true };
    world.put(once);
    await handle(world, put("1", once, NOON));
    const row = { ...world.row("once", NOON), status: "SUCCEEDED" as const };
    await world.engine.occurrences.write([
      { key: row, guard: [], change: { set: { status: row.status }, remove: ["dueAt"] } },
    ]);
    const key = { scheduleId: row.scheduleId, firing: row.firing };
    expect(await handle(world, streamRecord("2", key, row, NOON))).toEqual({ batchItemFailures: [] });
    expect(world.store.allSchedules()).toEqual([]);
  });

  it("sweeps at the hourly rule's word", async () => {
    const world = newDeployedWorld();
    world.put(hourly("a"));
    expect(await world.time.finish(createHandler(world.env)({ sweep: true }, PLENTY))).toEqual({
      batchItemFailures: [],
    });
    expect(world.history("a")).toHaveLength(1);
    expect(world.logs).toContain("info: swept");
  });
});
