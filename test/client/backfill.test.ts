import { describe, expect, it } from "vitest";
import { InvalidArgumentError, ScheduleNotFoundError } from "../../lib/client/index.ts";
import { plusMs } from "../../lib/core/instant.ts";
import { NOON } from "../support/occurrences.ts";
import { succeedingBackfills } from "./backfills.ts";
import { createWorld } from "./world.ts";

const HOUR_MS = 3_600_000;

describe("backfill", () => {
  it("runs what did not run, and tells how far it is", async () => {
    const world = createWorld();
    succeedingBackfills(world);
    await world.client.put({ scheduleId: "hourly", cron: "0 * * * *" });
    const told: number[] = [];
    const outcome = await world.client.backfill("hourly", {
      from: "2026-11-29T07:00:00+01:00",
      concurrency: 2,
      onProgress: ({ finished }) => told.push(finished),
    });
    expect(outcome).toMatchObject({ counts: { missing: 6 }, progress: { wanted: 6, finished: 6, failed: 0 } });
    expect(outcome.wanted.at(-1)).toBe(plusMs(NOON, -HOUR_MS));
    expect(told).toEqual([0, 2, 4, 6]);
  });

  it("takes dates", async () => {
    const world = createWorld();
    await world.client.put({ scheduleId: "hourly", cron: "0 * * * *" });
    const range = { from: new Date(NOON - 3 * HOUR_MS), to: new Date(NOON - HOUR_MS), dryRun: true };
    expect((await world.client.backfill("hourly", range)).wanted).toEqual([
      plusMs(NOON, -3 * HOUR_MS),
      plusMs(NOON, -2 * HOUR_MS),
    ]);
  });

  it.each(["2026-11-29T07:00", "yesterday", new Date(Number.NaN)])(
    "refuses %s, which names no instant",
    async (from) => {
      const { client } = createWorld();
      await client.put({ scheduleId: "hourly", cron: "0 * * * *" });
      await expect(client.backfill("hourly", { from })).rejects.toThrow(InvalidArgumentError);
    },
  );

  it("refuses a schedule that is not there", async () => {
    const { client } = createWorld();
    await expect(client.backfill("none", { from: "2026-11-29T07:00Z" })).rejects.toThrow(ScheduleNotFoundError);
  });
});
