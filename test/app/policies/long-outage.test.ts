import { describe, expect, it } from "vitest";
import type { OccurrenceStore } from "../../../lib/app/ports.ts";
import { plusMs, toIso } from "../../../lib/core/instant.ts";
import { MISFIRES_COUNTED_MAX } from "../../../lib/core/misfire.ts";
import { NOON } from "../../support/occurrences.ts";
import { DAY, MINUTE, SECOND, Stage } from "./stage.ts";

/** The rows each call wrote, by what it was for. */
function counting() {
  const rows = { insert: 0, write: 0 };
  return {
    rows,
    wrap: (real: OccurrenceStore): Partial<OccurrenceStore> => ({
      insert: (inserted) => {
        rows.insert += inserted.length;
        return real.insert(inserted);
      },
      write: (writes) => {
        rows.write += writes.length;
        return real.write(writes);
      },
    }),
  };
}

/** A per-second schedule whose dispatchers were away for `outageMs`, and a neighbour that fires every minute. */
async function afterOutage(misfire: object, outageMs: number) {
  const { rows, wrap } = counting();
  const stage = new Stage({ occurrences: wrap, start: plusMs(NOON, -SECOND), settings: { shards: 3 } });
  stage.world.put({ scheduleId: "a", cron: "* * * * * *", misfire });
  stage.world.put({ scheduleId: "b", rate: "1 minute" });
  await stage.playUntil(NOON);
  stage.dispatching = false;
  await stage.playUntil(plusMs(NOON, outageMs));
  stage.dispatching = true;
  rows.insert = 0;
  rows.write = 0;
  return { stage, rows };
}

describe("three days without a dispatcher, for a schedule that fires every second", () => {
  it("cost a handful of writes under coalesce, and one run", async () => {
    const { stage, rows } = await afterOutage({ policy: "coalesce" }, 3 * DAY);
    await stage.rest();
    expect(stage.rows("a").filter(({ status }) => status === "SUCCEEDED")).toHaveLength(2);
    // Two schedules: decide, skip, claim, start, report; a successor each time.
    expect(rows.write + rows.insert).toBeLessThan(25);
    expect(stage.world.row("a", plusMs(NOON, SECOND)).misfire).toEqual({
      policy: "coalesce",
      count: MISFIRES_COUNTED_MAX,
      more: true,
      from: plusMs(NOON, SECOND),
      to: plusMs(NOON, 3 * DAY),
    });
  });

  it("cost a handful of writes under skip, beside what is within its grace", async () => {
    const { stage, rows } = await afterOutage({ policy: "skip", graceSeconds: 2 }, 3 * DAY);
    await stage.rest();
    expect(rows.write + rows.insert).toBeLessThan(35);
    expect(stage.rows("a").map(({ status }) => status)).toEqual([
      "SUCCEEDED",
      "SKIPPED",
      "SUCCEEDED",
      "SUCCEEDED",
      "SUCCEEDED",
      "PENDING",
    ]);
  });

  it("are caught up with under all as far as the window reaches, each row once", async () => {
    const misfire = { policy: "all", catchupWindowSeconds: 250 };
    const { stage } = await afterOutage(misfire, 3 * DAY);
    await stage.playUntil(plusMs(NOON, 3 * DAY + 5 * SECOND));
    const caughtUp = stage.rows("a").filter(({ kind }) => kind === "backfill");
    expect(caughtUp).toHaveLength(251);
    expect(new Set(stage.ran()).size).toBe(stage.ran().length);
  });
});

describe("catching up with a schedule that fires every second", () => {
  it("goes oldest first, a bounded number of rows at a look, and faster than new firings come", async () => {
    const { stage, rows } = await afterOutage({ policy: "all" }, 8 * MINUTE);
    const missed = 8 * 60;
    stage.dispatching = false;
    // One look a second, which is the slowest a dispatcher is.
    for (let second = 0; second < 20; second += 1) {
      rows.insert = 0;
      await stage.look();
      await stage.rest();
      expect(rows.insert).toBeLessThan(310);
      await stage.playUntil(plusMs(stage.now, SECOND));
    }
    const ran = stage.ran();
    expect(ran.length).toBeGreaterThanOrEqual(missed + 15);
    expect(new Set(ran).size).toBe(ran.length);
    // Batch by batch, the older before the younger.
    const batchOf = (second: number) => ran.indexOf(toIso(plusMs(NOON, second * SECOND)));
    expect(batchOf(50)).toBeLessThan(batchOf(250));
    expect(batchOf(250)).toBeLessThan(batchOf(450));
  });

  it("delays no other schedule", async () => {
    const { stage } = await afterOutage({ policy: "all" }, 7 * MINUTE + 59 * SECOND);
    await stage.playUntil(plusMs(NOON, 9 * MINUTE));
    for (const minute of [8, 9]) {
      const at = plusMs(NOON, minute * MINUTE);
      expect(stage.world.row("b", at)).toMatchObject({ status: "SUCCEEDED", startedAt: at });
    }
  });
});
