import { describe, expect, it } from "vitest";
import { StoreError } from "../../lib/app/errors.ts";
import { OccurrenceNotFoundError } from "../../lib/client/index.ts";
import { whileWaiting } from "./waits.ts";
import { createWorld } from "./world.ts";

const HOURLY = { scheduleId: "hourly", cron: "0 * * * *" };

async function asked() {
  const world = createWorld();
  await world.client.put(HOURLY);
  const { occurrence } = await world.client.runNow("hourly", { key: "k" });
  return { world, occurrence };
}

describe("waiting for a run", () => {
  it("follows it through its retries to its end, telling each change", async () => {
    const { world, occurrence } = await asked();
    whileWaiting(
      world,
      { status: "RUNNING", attempts: 1 },
      {},
      { status: "RETRYING" },
      { status: "RUNNING", attempts: 2 },
      { status: "SUCCEEDED", output: '{"n":1}' },
    );
    const told: string[] = [];
    const outcome = await world.client.occurrences.wait(occurrence, {
      onChange: ({ status, attempts }) => told.push(`${status} ${attempts}`),
    });
    expect(outcome).toMatchObject({ kind: "ended", occurrence: { status: "SUCCEEDED", output: '{"n":1}' } });
    expect(told).toEqual(["PENDING 0", "RUNNING 1", "RETRYING 1", "RUNNING 2", "SUCCEEDED 2"]);
  });

  it("answers at once for a run that is over, whoever ended it", async () => {
    const { world, occurrence } = await asked();
    const slept = whileWaiting(world);
    await world.client.occurrences.cancel(occurrence);
    expect(await world.client.occurrences.wait("hourly@manual#k")).toMatchObject({
      kind: "ended",
      occurrence: { status: "CANCELLED" },
    });
    expect(slept).toEqual([]);
  });

  it("ends when the time is up, to the second, with looks that grow rarer, and leaves the run alone", async () => {
    const { world, occurrence } = await asked();
    const start = world.now();
    const slept = whileWaiting(world);
    const outcome = await world.client.occurrences.wait(occurrence, { timeoutSeconds: 60 });
    expect(outcome).toMatchObject({ kind: "timed-out", occurrence: { status: "PENDING" } });
    expect(world.now() - start).toBe(60_000);
    expect(slept.length).toBeLessThan(25);
  });

  it("ends when the caller no longer wants to wait", async () => {
    const { world, occurrence } = await asked();
    const stop = new AbortController();
    whileWaiting(world, () => stop.abort());
    const outcome = await world.client.occurrences.wait(occurrence, { signal: stop.signal });
    expect(outcome).toMatchObject({ kind: "stopped", occurrence: { status: "PENDING" } });
  });

  it("goes on where one look is not answered, and says so where not even the first is", async () => {
    const { world, occurrence } = await asked();
    const { read } = world.manager.occurrences;
    const refuse = async (keys: Parameters<typeof read>[0]): ReturnType<typeof read> =>
      keys.map(() => ({ kind: "failed", error: new StoreError("throttled") }));
    whileWaiting(
      world,
      () => void Object.assign(world.manager.occurrences, { read: refuse }),
      () => void Object.assign(world.manager.occurrences, { read }),
      { status: "SUCCEEDED" },
    );
    expect(await world.client.occurrences.wait(occurrence)).toMatchObject({ kind: "ended" });
    Object.assign(world.manager.occurrences, { read: refuse });
    await expect(world.client.occurrences.wait(occurrence)).rejects.toThrow("throttled");
  });

  it("says so where there is no such run, or its history expired meanwhile", async () => {
    const { world, occurrence } = await asked();
    await expect(world.client.occurrences.wait("hourly@manual#other")).rejects.toThrow(OccurrenceNotFoundError);
    whileWaiting(world, () => void world.store.occurrences.remove([{ key: occurrence, guard: [] }]));
    await expect(world.client.occurrences.wait(occurrence)).rejects.toThrow("(or its history has expired)");
  });

  it.each([[-1], [Number.NaN], [7 * 86_400 + 1]])("refuses to wait %d seconds", async (timeoutSeconds) => {
    const { world, occurrence } = await asked();
    await expect(world.client.occurrences.wait(occurrence, { timeoutSeconds })).rejects.toThrow(
      "timeoutSeconds must be a number of seconds from 0 to 604800",
    );
  });
});
