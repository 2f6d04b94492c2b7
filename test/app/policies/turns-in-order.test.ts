import { describe, expect, it } from "vitest";
import { reconcile } from "../../../lib/app/engine/reconcile.ts";
import { visitRows } from "../../../lib/app/engine/visit-rows.ts";
import { StoreError } from "../../../lib/app/errors.ts";
import { runNow } from "../../../lib/app/manage/run-now.ts";
import type { OccurrenceStore } from "../../../lib/app/ports.ts";
import { type Instant, plusMs, toIso } from "../../../lib/core/instant.ts";
import { NOON } from "../../support/occurrences.ts";
import { clockTime, minutesAfter, overlaps, SECOND, type Stage, stageWith, story } from "./stage.ts";

const START = plusMs(NOON, -10 * SECOND);
const MINUTELY = { scheduleId: "a", rate: "1 minute", overlap: "wait" };

const ran = (stage: Stage): string[] => stage.ran().map(clockTime);

/** Visits one row alone, as the dispatcher of its shard does. */
const visit = (stage: Stage, firing: Instant) => visitRows(stage.world.engine, [stage.world.row("a", firing)]);

/** Counts searches of a schedule's rows, and lets them fail where `fails` is set. */
function searches() {
  const seen = { count: 0, fails: false };
  const wrap = (real: OccurrenceStore): Partial<OccurrenceStore> => ({
    history: async (query) => {
      seen.count += 1;
      if (seen.fails) throw new StoreError("the store must answer, got nothing");
      return real.history(query);
    },
  });
  return { seen, wrap };
}

/** 12:02:05: 12:00 has run, 12:01 is late, and 12:02 stands beside it, since a sweep has mended the chain meanwhile. */
async function twoHeads(misfire: object, wrap?: (real: OccurrenceStore) => Partial<OccurrenceStore>): Promise<Stage> {
  const options = { start: START, ...(wrap && { occurrences: wrap }) };
  const stage = await stageWith({ ...MINUTELY, misfire }, options, () => ({ takesMs: 5 * SECOND }));
  await stage.playUntil(plusMs(NOON, 30 * SECOND));
  stage.dispatching = false;
  await stage.playUntil(plusMs(NOON, 90 * SECOND));
  await reconcile(stage.world.engine, "a");
  await stage.playUntil(plusMs(NOON, 125 * SECOND));
  expect(story(stage.rows())).toEqual(["12:00 SUCCEEDED", "12:01 PENDING", "12:02 PENDING"]);
  return stage;
}

describe("firings that wait for each other", () => {
  it.each([{}, { policy: "all" }])("go oldest first, also where the younger is seen first (%o)", async (misfire) => {
    const stage = await twoHeads(misfire);
    await visit(stage, minutesAfter(NOON, 2));
    expect(story(stage.rows())).toEqual(["12:00 SUCCEEDED", "12:01 PENDING", "12:02 PENDING"]);
    stage.dispatching = true;
    await stage.playUntil(minutesAfter(NOON, 3));
    expect(ran(stage)).toEqual(["12:00", "12:01", "12:02", "12:03"]);
    expect(overlaps(stage.runs)).toEqual([]);
    // Brought forward by the end of the older one, not a minute later.
    expect(stage.world.row("a", minutesAfter(NOON, 2)).startedAt).toBeLessThanOrEqual(plusMs(NOON, 132 * SECOND));
  });

  it("go on with the turn that one has, though an older one has come since: neither waits for ever", async () => {
    const stage = await twoHeads({});
    const { occurrences } = stage.world.engine;
    const [gate] = await occurrences.readGates(["a"]);
    const asRead = gate?.kind === "found" ? gate.row : undefined;
    const holder = toIso(minutesAfter(NOON, 2));
    await occurrences.passGates([{ scheduleId: "a", asRead, holder, expiresAtSeconds: NOON / 1000 + 86_400 }]);
    stage.dispatching = true;
    await stage.playUntil(minutesAfter(NOON, 3));
    expect(ran(stage)).toEqual(["12:00", "12:02", "12:01", "12:03"]);
    expect(overlaps(stage.runs)).toEqual([]);
  });

  it("cost no search where each follows the one before", async () => {
    const { seen, wrap } = searches();
    const stage = await stageWith(MINUTELY, { start: START, occurrences: wrap });
    await stage.playUntil(minutesAfter(NOON, 1));
    stage.consuming = false;
    await stage.playUntil(plusMs(minutesAfter(NOON, 2), -1));
    const before = seen.count;
    await stage.playUntil(minutesAfter(NOON, 2));
    expect(story(stage.rows()).slice(-2)).toEqual(["12:02 DISPATCHED", "12:03 PENDING"]);
    expect(seen.count).toBe(before);
  });

  it("cost one where another run had the turn before, and wait for it to be answered", async () => {
    const { seen, wrap } = searches();
    const stage = await stageWith(MINUTELY, { start: START, occurrences: wrap });
    await stage.playUntil(plusMs(NOON, 30 * SECOND));
    await runNow(stage.world.engine, "a", { key: "by-hand" });
    await stage.playUntil(plusMs(minutesAfter(NOON, 1), -1));
    stage.dispatching = false;
    await stage.playUntil(minutesAfter(NOON, 1));
    seen.fails = true;
    await visit(stage, minutesAfter(NOON, 1));
    expect(stage.world.row("a", minutesAfter(NOON, 1)).status).toBe("PENDING");
    seen.fails = false;
    const before = seen.count;
    await visit(stage, minutesAfter(NOON, 1));
    expect(stage.world.row("a", minutesAfter(NOON, 1)).status).toBe("DISPATCHED");
    expect(seen.count).toBe(before + 1);
  });

  it("search side by side where many schedules have to, as after an outage", async () => {
    const seen = { atOnce: 0, most: 0 };
    const stage = await stageWith(MINUTELY, {
      start: START,
      occurrences: (real) => ({
        history: async (query) => {
          seen.atOnce += 1;
          seen.most = Math.max(seen.most, seen.atOnce);
          const page = await real.history(query);
          seen.atOnce -= 1;
          return page;
        },
      }),
    });
    const ids = ["a", "b", "c"];
    for (const scheduleId of ids) stage.world.put({ ...MINUTELY, scheduleId });
    stage.dispatching = false;
    await stage.playUntil(NOON);
    seen.most = 0;
    await visitRows(
      stage.world.engine,
      ids.map((id) => stage.world.row(id, NOON)),
    );
    expect(ids.flatMap((id) => story(stage.rows(id)))).toEqual(
      Array(3).fill(["12:00 DISPATCHED", "12:01 PENDING"]).flat(),
    );
    expect(seen.most).toBe(ids.length);
  });
});
