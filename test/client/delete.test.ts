import { describe, expect, it } from "vitest";
import { StoreError } from "../../lib/app/errors.ts";
import { plusMs, toIso } from "../../lib/core/instant.ts";
import type { Occurrence, OccurrenceStatus } from "../../lib/core/occurrence.ts";
import { anOccurrence, NOON } from "../support/occurrences.ts";
import { createWorld } from "./world.ts";

const A = { scheduleId: "a", rate: "1 minute" };

/** Rows of schedule `a` of the last minutes, newest last. */
const history = (count: number, given: Partial<Occurrence> = {}): Occurrence[] =>
  Array.from({ length: count }, (_, index) =>
    anOccurrence({
      scheduleId: "a",
      scheduledFor: plusMs(NOON, (index - count) * 60_000),
      status: "SUCCEEDED",
      fencingToken: 1,
      ...given,
    }),
  );

describe("delete", () => {
  it("keeps history unless told otherwise", async () => {
    const { client, insert, store } = createWorld();
    await client.put(A);
    await insert(...history(3));
    expect(await client.delete("a")).toBe("removed");
    expect(await client.delete("a")).toBe("missing");
    expect(store.allOccurrences()).toHaveLength(3);
  });
});

describe("purge", () => {
  it("removes the schedule and all its history, page by page, and leaves its neighbours alone", async () => {
    const { client, insert, store, item } = createWorld();
    await client.put(A);
    await insert(...history(250), anOccurrence({ scheduleId: "b", status: "SUCCEEDED" }));
    const told: number[] = [];
    expect(await client.delete("a", { purge: true, onProgress: (removed) => told.push(removed) })).toBe("removed");
    expect(item("a")).toBeUndefined();
    expect(store.allOccurrences().map(({ scheduleId }) => scheduleId)).toEqual(["b"]);
    expect(told).toEqual([100, 200, 250]);
  });

  it("cancels what is unfinished, whatever its state, and removes dead letters and manual runs too", async () => {
    const { client, insert, store } = createWorld();
    await client.put(A);
    const statuses: OccurrenceStatus[] = ["PENDING", "DISPATCHED", "RUNNING", "RETRYING", "DEAD_LETTERED", "SKIPPED"];
    const rows = statuses.map((status, index) =>
      anOccurrence({ scheduleId: "a", scheduledFor: plusMs(NOON, -index * 60_000), status }),
    );
    await insert(...rows, anOccurrence({ scheduleId: "a", firing: "manual#k", kind: "manual" }));
    expect(await client.delete("a", { purge: true })).toBe("removed");
    expect(store.allOccurrences()).toEqual([]);
  });

  it("goes on where it was stopped, also with the definition gone", async () => {
    const world = createWorld();
    await world.client.put(A);
    await world.insert(...history(250));
    const { remove } = world.store.occurrences;
    let pages = 0;
    Object.assign(world.manager.occurrences, {
      remove: async (removals: Parameters<typeof remove>[0]) => {
        pages += 1;
        if (pages === 2) throw new Error("the machine is switched off");
        return remove(removals);
      },
    });
    await expect(world.client.delete("a", { purge: true })).rejects.toThrow("switched off");
    expect(world.store.allOccurrences()).toHaveLength(150);
    expect(await world.client.delete("a", { purge: true })).toBe("removed");
    expect(world.store.allOccurrences()).toEqual([]);
    expect(await world.client.delete("a", { purge: true })).toBe("missing");
  });

  it("looks again for what moved on meanwhile, and gives up in the end", async () => {
    const world = createWorld();
    await world.insert(...history(2));
    const { remove } = world.store.occurrences;
    let refusals = 0;
    Object.assign(world.manager.occurrences, {
      remove: async (removals: Parameters<typeof remove>[0]) => {
        refusals += 1;
        return refusals <= 3 ? removals.map(() => ({ kind: "refused" })) : remove(removals);
      },
    });
    expect(await world.client.delete("a", { purge: true })).toBe("removed");
    expect(refusals).toBe(4);
    await world.insert(...history(1));
    refusals = Number.NEGATIVE_INFINITY;
    await expect(world.client.delete("a", { purge: true })).rejects.toThrow(StoreError);
  });

  it("leaves alone what a schedule does that was put again meanwhile", async () => {
    const world = createWorld();
    await world.client.put(A);
    const head = anOccurrence({ scheduleId: "a", scheduledFor: plusMs(NOON, 60_000), createdAt: NOON });
    const young = anOccurrence({
      scheduleId: "a",
      scheduledFor: plusMs(NOON, 1),
      status: "SUCCEEDED",
      createdAt: plusMs(NOON, 1),
    });
    await world.insert(...history(2), head, young);
    const { remove } = world.store.schedules;
    Object.assign(world.manager.schedules, {
      remove: async (scheduleId: string) => {
        const removed = await remove(scheduleId);
        await world.store.schedules.put(A, "any");
        return removed;
      },
    });
    expect(await world.client.delete("a", { purge: true })).toBe("removed");
    expect(world.store.allOccurrences().map(({ firing }) => firing)).toEqual([
      toIso(plusMs(NOON, 60_000)),
      toIso(plusMs(NOON, 1)),
    ]);
    expect(world.row("a", plusMs(NOON, 60_000))?.status).toBe("PENDING");
  });
});
