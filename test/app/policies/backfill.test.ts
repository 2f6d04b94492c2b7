import { describe, expect, it } from "vitest";
import { type BackfillOptions, type BackfillProgress, backfill } from "../../../lib/app/manage/backfill.ts";
import { cancelOccurrence } from "../../../lib/app/manage/occurrences.ts";
import { pauseSchedule, resumeSchedule } from "../../../lib/app/manage/pause.ts";
import { plusMs, toIso } from "../../../lib/core/instant.ts";
import { NOON } from "../../support/occurrences.ts";
import { clockTime, DAY, MINUTE, minutesAfter, overlaps, SECOND, type Stage, stageWith } from "./stage.ts";

const START = minutesAfter(NOON, -30);
const fiveMinutes = (given: Record<string, unknown> = {}) => ({ scheduleId: "a", rate: "5 minutes", ...given });
const HOUR_BEFORE = { from: minutesAfter(NOON, -60), to: NOON };

/** Runs a backfill while the stage's dispatchers and consumers work. */
async function backfilled(stage: Stage, options: BackfillOptions) {
  let over = false;
  const outcome = backfill(stage.world.engine, "a", options).finally(() => {
    over = true;
  });
  outcome.catch(() => undefined);
  for (let second = 0; second < 3_600 && !over; second += 1) await stage.playUntil(plusMs(stage.now, SECOND));
  return outcome;
}

/** A stage at noon whose schedule was made at 11:30 and paused from 11:41 to 11:56. */
async function withPause(given: Record<string, unknown> = {}): Promise<Stage> {
  const stage = await stageWith(fiveMinutes(given), { start: START });
  await stage.playUntil(minutesAfter(NOON, -19));
  await pauseSchedule(stage.world.engine, "a");
  await stage.playUntil(minutesAfter(NOON, -4));
  await resumeSchedule(stage.world.engine, "a");
  await stage.playUntil(plusMs(NOON, 30 * SECOND));
  return stage;
}

describe("a backfill", () => {
  it("runs what did not run, under its ordinary identity, and leaves alone what did", async () => {
    const stage = await withPause();
    const before = stage.ran().map(clockTime);
    expect(before).toEqual(["11:35", "11:40", "12:00"]);
    const { counts, progress, stopped } = await backfilled(stage, HOUR_BEFORE);
    expect(counts).toEqual({ missing: 10, skipped: 0, covered: 0, done: 2, underWay: 0 });
    expect({ progress, stopped }).toEqual({
      progress: { wanted: 10, started: 10, finished: 10, failed: 0 },
      stopped: false,
    });
    expect(stage.ran().slice(3).map(clockTime)).toEqual([
      "11:00",
      "11:05",
      "11:10",
      "11:15",
      "11:20",
      "11:25",
      "11:30",
      "11:45",
      "11:50",
      "11:55",
    ]);
    expect(stage.world.row("a", minutesAfter(NOON, -60))).toMatchObject({ kind: "backfill", status: "SUCCEEDED" });
  });

  it("does nothing when it is repeated, and takes up again what was stopped", async () => {
    const stage = await withPause();
    const stop = new AbortController();
    const onProgress = ({ started }: BackfillProgress) => started >= 4 && stop.abort();
    const options = { ...HOUR_BEFORE, concurrency: 4, onProgress, signal: stop.signal };
    expect(await backfilled(stage, options)).toMatchObject({ stopped: true, progress: { wanted: 10, started: 4 } });
    await stage.playUntil(plusMs(stage.now, SECOND));
    expect((await backfilled(stage, HOUR_BEFORE)).progress).toMatchObject({ wanted: 6, finished: 6 });
    const again = await backfilled(stage, HOUR_BEFORE);
    expect(again).toMatchObject({ wanted: [], counts: { missing: 0, done: 12 }, stopped: false });
    expect(new Set(stage.ran()).size).toBe(stage.ran().length);
  });

  it("includes from and excludes to", async () => {
    const stage = await withPause();
    const range = { from: minutesAfter(NOON, -15), to: minutesAfter(NOON, -5), dryRun: true };
    expect((await backfilled(stage, range)).wanted.map((at) => clockTime(toIso(at)))).toEqual(["11:45", "11:50"]);
  });

  it("says what it would do, and does not, in a dry run", async () => {
    const stage = await withPause();
    const rows = stage.rows().length;
    const { counts, wanted } = await backfilled(stage, { ...HOUR_BEFORE, dryRun: true });
    expect(counts.missing).toBe(10);
    expect(wanted).toHaveLength(10);
    expect(stage.rows()).toHaveLength(rows);
  });

  it("revives what was passed over, by the definition as it stands, also while the schedule is paused", async () => {
    const stage = await stageWith(fiveMinutes({ overlap: "skip", timeoutSeconds: 290 }), { start: START }, () => ({
      takesMs: 400 * SECOND,
    }));
    await stage.playUntil(minutesAfter(NOON, 7));
    stage.job = () => ({});
    await pauseSchedule(stage.world.engine, "a");
    await stage.edit(fiveMinutes({ overlap: "skip", payload: { v: 2 } }));
    const outcome = await backfilled(stage, { from: START, to: minutesAfter(NOON, 6) });
    expect(outcome.counts.skipped).toBeGreaterThan(2);
    expect(outcome.counts.missing).toBe(1);
    expect(outcome.progress).toMatchObject({ finished: outcome.progress.wanted, failed: 0 });
    const revived = stage.rows().filter(({ kind }) => kind === "backfill");
    expect(revived).toHaveLength(outcome.progress.wanted);
    expect(revived.every(({ payload, status }) => payload === '{"v":2}' && status === "SUCCEEDED")).toBe(true);
    expect(overlaps(stage.runs)).toEqual([]);
  });

  it("counts what a coalesced run stood for as done, unless told otherwise", async () => {
    const stage = await stageWith(fiveMinutes(), { start: START });
    await stage.playUntil(minutesAfter(NOON, -25));
    stage.dispatching = false;
    await stage.playUntil(minutesAfter(NOON, 1));
    stage.dispatching = true;
    await stage.playUntil(minutesAfter(NOON, 2));
    expect(stage.ran().map(clockTime)).toEqual(["11:35", "12:00"]);
    // Also where neither the head that was decided nor the run that stood for all lies in the range.
    const inside = { from: minutesAfter(NOON, -15), to: minutesAfter(NOON, -5), dryRun: true };
    expect((await backfilled(stage, inside)).counts).toMatchObject({ missing: 0, covered: 2 });
    const range = { from: START, to: minutesAfter(NOON, 1) };
    expect((await backfilled(stage, { ...range, dryRun: true })).counts).toMatchObject({
      missing: 1,
      skipped: 0,
      covered: 4,
      done: 2,
    });
    const all = await backfilled(stage, { ...range, includeCoalesced: true });
    expect(all.progress).toEqual({ wanted: 5, started: 5, finished: 5, failed: 0 });
    expect(new Set(stage.ran()).size).toBe(7);
  });

  it("runs what nothing stood for in the end: the coalesced run was itself passed over", async () => {
    const stage = await stageWith(fiveMinutes(), { start: START });
    await stage.playUntil(minutesAfter(NOON, -25));
    stage.dispatching = false;
    await stage.playUntil(minutesAfter(NOON, 1));
    // The decision, and the head that stands for the others; then a pause comes in between.
    await stage.look();
    await stage.look();
    await pauseSchedule(stage.world.engine, "a");
    stage.dispatching = true;
    await stage.playUntil(minutesAfter(NOON, 2));
    const { counts } = await backfilled(stage, { from: START, to: minutesAfter(NOON, 1), dryRun: true });
    expect(counts).toMatchObject({ covered: 0, skipped: 2, missing: 4, done: 1 });
  });

  it("keeps only so many under way, and its runs come behind live ones", async () => {
    const stage = await withPause();
    stage.job = ({ kind }) => ({ takesMs: kind === "backfill" ? 55 * SECOND : 0 });
    let most = 0;
    const watch = ({ started, finished }: BackfillProgress) => {
      most = Math.max(most, started - finished);
    };
    const outcome = await backfilled(stage, { ...HOUR_BEFORE, concurrency: 2, onProgress: watch });
    expect(outcome.progress.finished).toBe(10);
    expect(most).toBe(2);
    const live = stage.world.row("a", minutesAfter(NOON, 5));
    expect(live).toMatchObject({ status: "SUCCEEDED", startedAt: live.scheduledFor });
  });

  it("leaves what was cancelled, and counts what failed", async () => {
    const stage = await withPause();
    stage.job = () => ({ ends: { kind: "failed", error: { name: "E", message: "no" }, permanent: true } });
    await cancelOccurrence(stage.world.engine, stage.world.row("a", minutesAfter(NOON, 5)));
    await stage.playUntil(minutesAfter(NOON, 6));
    const outcome = await backfilled(stage, { from: minutesAfter(NOON, -10), to: minutesAfter(NOON, 6) });
    expect(outcome.counts).toMatchObject({ missing: 2, done: 2 });
    expect(outcome.progress).toEqual({ wanted: 2, started: 2, finished: 2, failed: 2 });
  });

  it("stops at its limit, oldest first, and says that there is more", async () => {
    const stage = await withPause();
    const outcome = await backfilled(stage, { ...HOUR_BEFORE, limit: 3 });
    expect(outcome).toMatchObject({ more: true, progress: { wanted: 3, finished: 3 } });
    expect(stage.ran().slice(-3).map(clockTime)).toEqual(["11:00", "11:05", "11:10"]);
  });

  it.each([
    ["a range that reaches past now", { from: NOON, to: minutesAfter(NOON, 5) }, "to must be at most now"],
    ["a range that is none", { from: NOON, to: NOON }, "from must be before to"],
    ["more firings than can be meant", { from: plusMs(NOON, -5 * DAY), to: NOON }, "at most 1000 firings unless limit"],
    [
      "what is older than history",
      { from: plusMs(NOON, -31 * DAY), to: plusMs(NOON, -30 * DAY) },
      "unless rerun is given",
    ],
    ["a limit of nothing", { ...HOUR_BEFORE, limit: 0 }, "limit must be a whole number from 1"],
    ["no run at a time", { ...HOUR_BEFORE, concurrency: 0 }, "concurrency must be a whole number from 1"],
  ])("refuses %s", async (_, options, message) => {
    const stage = await withPause();
    await expect(backfill(stage.world.engine, "a", options)).rejects.toThrow(message);
  });

  it("runs what is older than history where a rerun is meant", async () => {
    const stage = await withPause();
    const old = { from: plusMs(NOON, -40 * DAY), to: plusMs(NOON, -40 * DAY + 10 * MINUTE), rerun: true };
    expect((await backfilled(stage, old)).progress).toMatchObject({ wanted: 2, finished: 2 });
  });

  it("tries again what the store did not take, and gives up where it takes nothing", async () => {
    let failures = 2;
    const stage = await stageWith(fiveMinutes(), {
      start: START,
      occurrences: (real) => ({
        insert: (rows) => {
          if (failures === 0 || rows[0]?.kind !== "backfill") return real.insert(rows);
          failures -= 1;
          return Promise.resolve(rows.map(() => ({ kind: "failed", error: new Error("throttled") })));
        },
      }),
    });
    await stage.playUntil(NOON);
    const range = { from: minutesAfter(NOON, -40), to: minutesAfter(NOON, -30) };
    expect((await backfilled(stage, range)).progress).toMatchObject({ finished: 2 });
    failures = Number.POSITIVE_INFINITY;
    await expect(backfilled(stage, HOUR_BEFORE)).rejects.toThrow("throttled");
  });
});

describe("a backfill during an outage", () => {
  // The row that brings the rest: the first missed one where runs take turns, the hundredth where they do not.
  it.each([
    ["wait", 2],
    ["allow", 101],
  ])("leaves what else was missed to the dispatcher, under %s and all", async (overlap, minute) => {
    const item = { scheduleId: "a", rate: "1 minute", overlap, misfire: { policy: "all" } };
    const stage = await stageWith(item, { start: START });
    await stage.playUntil(NOON);
    stage.dispatching = false;
    await stage.playUntil(plusMs(NOON, 150 * MINUTE + 30 * SECOND));
    const stop = new AbortController();
    const range = { from: minutesAfter(NOON, minute), to: minutesAfter(NOON, minute + 3) };
    const outcome = backfill(stage.world.engine, "a", { ...range, signal: stop.signal });
    await stage.playUntil(plusMs(stage.now, SECOND));
    stop.abort();
    expect(stage.rows().filter(({ kind }) => kind === "backfill")).toHaveLength(3);
    stage.dispatching = true;
    await stage.playUntil(minutesAfter(NOON, 152));
    expect(await outcome).toMatchObject({ wanted: { length: 3 }, stopped: true });
    const missed = Array.from({ length: 153 }, (_, passed) => toIso(minutesAfter(NOON, passed)));
    expect(
      stage
        .ran()
        .filter((firing) => firing >= toIso(NOON))
        .toSorted(),
    ).toEqual(missed);
  });
});
