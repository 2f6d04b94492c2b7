import { describe, expect, it } from "vitest";
import type { Execution } from "../../../lib/app/engine/run-occurrence.ts";
import { replayDeadLetter } from "../../../lib/app/manage/dead-letters.ts";
import { cancelOccurrence } from "../../../lib/app/manage/occurrences.ts";
import { runNow } from "../../../lib/app/manage/run-now.ts";
import { plusMs, toIso } from "../../../lib/core/instant.ts";
import { LEASES } from "../../../lib/core/lease.ts";
import type { Occurrence } from "../../../lib/core/occurrence.ts";
import { startTransition } from "../../../lib/core/transition.ts";
import { NOON } from "../../support/occurrences.ts";
import { clockTime, MINUTE, minutesAfter, overlaps, SECOND, type Stage, stageWith, story } from "./stage.ts";

const START = plusMs(NOON, -10 * SECOND);
const minutely = (overlap: string, given: Record<string, unknown> = {}) => ({
  scheduleId: "a",
  rate: "1 minute",
  overlap,
  timeoutSeconds: 290,
  ...given,
});
const FAILED: Execution = { kind: "failed", error: { name: "Error", message: "no" }, permanent: false };

/** When each run of the schedule started, by firing: `12:01 at 12:02:30`. */
const starts = (stage: Stage): string[] =>
  stage.runs.map(({ firing, from }) => `${clockTime(firing)} at ${clockTime(toIso(from))}`);

/** Heads whose instant has come and which have not started. */
const waiting = (stage: Stage): Occurrence[] =>
  stage.rows().filter(({ status, scheduledFor }) => status === "PENDING" && scheduledFor <= stage.now);

/** Starts the run that was sent, as a worker does that is never heard of again. */
async function startAndVanish(stage: Stage): Promise<void> {
  stage.consuming = false;
  await stage.rest();
  const [message] = stage.world.messages();
  if (message === undefined) throw new Error("nothing was sent");
  const event = { type: "start", token: message.fencingToken, attempt: 1, owner: "lost" } as const;
  await stage.world.engine.occurrences.write([{ key: message, ...startTransition(event, stage.now) }]);
  stage.consuming = true;
}

describe("runs of one schedule", () => {
  const long = () => ({ takesMs: 150 * SECOND });

  it("overlap where that is allowed", async () => {
    const stage = await stageWith(minutely("allow"), { start: START }, long);
    await stage.playUntil(minutesAfter(NOON, 3));
    expect(starts(stage)).toEqual(["12:00 at 12:00", "12:01 at 12:01", "12:02 at 12:02", "12:03 at 12:03"]);
    expect(overlaps(stage.runs)).not.toEqual([]);
  });

  it("pass over a firing under skip, and the chain goes on (F253)", async () => {
    const stage = await stageWith(minutely("skip"), { start: START }, long);
    await stage.playUntil(minutesAfter(NOON, 4));
    expect(story(stage.rows())).toEqual([
      "12:00 SUCCEEDED",
      "12:01 SKIPPED:overlap",
      "12:02 SKIPPED:overlap",
      "12:03 RUNNING",
      "12:04 SKIPPED:overlap",
      "12:05 PENDING",
    ]);
  });

  it("wait for each other in the order of their instants, and at most one waits under coalesce (F224)", async () => {
    const stage = await stageWith(minutely("wait"), { start: START }, long);
    for (let second = 0; second <= 15 * 60; second += 10) {
      await stage.playUntil(plusMs(NOON, second * SECOND));
      expect(waiting(stage).length).toBeLessThanOrEqual(1);
    }
    const instants = stage.runs.map(({ firing }) => Date.parse(firing));
    expect(instants).toEqual(instants.toSorted((left, right) => left - right));
    expect(overlaps(stage.runs)).toEqual([]);
    expect(starts(stage).slice(0, 3)).toEqual(["12:00 at 12:00", "12:01 at 12:02:30", "12:02 at 12:05"]);
    // What could not even wait was coalesced.
    expect(stage.rows().filter(({ skipReason }) => skipReason === "misfire")).not.toEqual([]);
  });

  it("wait without becoming misfires: the one that waits runs, however long that took", async () => {
    const item = minutely("wait", { rate: "5 minutes", misfire: { policy: "skip", graceSeconds: 10 } });
    const stage = await stageWith(item, { start: START }, () => ({ takesMs: 280 * SECOND }));
    await stage.playUntil(minutesAfter(NOON, 4));
    await runNow(stage.world.engine, "a", { key: "by-hand" });
    await stage.playUntil(minutesAfter(NOON, 15));
    // The manual run was there before 12:05 and takes its turn first.
    expect(stage.runs.slice(0, 3).map(({ firing }) => firing.slice(-17))).toEqual([
      toIso(NOON).slice(-17),
      "manual#by-hand",
      toIso(minutesAfter(NOON, 5)).slice(-17),
    ]);
    expect(overlaps(stage.runs)).toEqual([]);
  });

  it("are brought forward when the one before ends, even behind a hundred manual runs", async () => {
    const stage = await stageWith(minutely("wait"), { start: START });
    for (let run = 0; run < 100; run += 1) await runNow(stage.world.engine, "a", { key: `k${run}` });
    await stage.playUntil(plusMs(NOON, -1));
    stage.job = long;
    await stage.playUntil(minutesAfter(NOON, 4));
    expect(starts(stage).slice(100, 102)).toEqual(["12:00 at 12:00", "12:01 at 12:02:30"]);
  });
});

describe("a run that was lost or failed and will be tried again", () => {
  const retry = { maxAttempts: 3, baseDelaySeconds: 90, jitter: false };

  it.each(["skip", "wait"])("holds its turn until then, under %s", async (overlap) => {
    let failing = true;
    const stage = await stageWith(minutely(overlap, { retry }), { start: START }, (row) =>
      failing && row.scheduledFor === NOON ? { ends: FAILED } : { takesMs: 10 * SECOND },
    );
    await stage.playUntil(NOON);
    failing = false;
    await stage.playUntil(minutesAfter(NOON, 2));
    expect(starts(stage)).toEqual(
      overlap === "skip"
        ? ["12:00 at 12:00", "12:00 at 12:01:30", "12:02 at 12:02"]
        : ["12:00 at 12:00", "12:00 at 12:01:30", "12:01 at 12:01:40", "12:02 at 12:02"],
    );
    expect(overlaps(stage.runs)).toEqual([]);
  });

  it.each(["skip", "wait"])("holds its turn through the crash of its worker, under %s", async (overlap) => {
    const stage = await stageWith(minutely(overlap, { rate: "20 seconds" }), { start: START }, () => ({
      takesMs: 25 * SECOND,
    }));
    stage.consuming = false;
    await stage.playUntil(NOON);
    await startAndVanish(stage);
    await stage.playUntil(plusMs(NOON, 60 * SECOND));
    const lease = LEASES.runLeaseMs / SECOND;
    expect(starts(stage)[0]).toBe(`12:00 at 12:00:${lease}`);
    expect(overlaps(stage.runs)).toEqual([]);
    expect(stage.world.row("a", plusMs(NOON, 20 * SECOND)).status).toBe(overlap === "skip" ? "SKIPPED" : "RUNNING");
  });

  it("leaves its turn when it becomes a dead letter, and its replay waits for another's end", async () => {
    let failing = true;
    const stage = await stageWith(minutely("skip", { retry: { maxAttempts: 1 } }), { start: START }, (row) =>
      failing && row.scheduledFor === NOON ? { ends: FAILED } : { takesMs: 90 * SECOND },
    );
    await stage.playUntil(plusMs(NOON, 70 * SECOND));
    failing = false;
    expect(stage.world.row("a", NOON).status).toBe("DEAD_LETTERED");
    expect(stage.world.row("a", minutesAfter(NOON, 1)).status).toBe("RUNNING");
    await replayDeadLetter(stage.world.engine, stage.world.row("a", NOON));
    await stage.playUntil(plusMs(NOON, 155 * SECOND));
    // Not skipped, not beside 12:01 (till 12:02:30), and 12:02 had to give way.
    expect(starts(stage)).toEqual(["12:00 at 12:00", "12:01 at 12:01", "12:00 at 12:02:30"]);
    expect(overlaps(stage.runs)).toEqual([]);
  });
});

describe("the holder of a turn that is no more", () => {
  it("blocks until its lease has ended where it was cancelled at work and pays no heed, and not longer", async () => {
    const stage = await stageWith(minutely("wait"), { start: START }, () => ({ takesMs: 280 * SECOND, deaf: true }));
    await stage.playUntil(plusMs(NOON, 65 * SECOND));
    const { leaseUntil = NOON } = await cancelOccurrence(stage.world.engine, stage.world.row("a", NOON));
    await stage.playUntil(minutesAfter(NOON, 3));
    expect(starts(stage)[1]).toBe(`12:01 at ${clockTime(toIso(leaseUntil))}`);
  });

  it("blocks until its job has ended where it was cancelled at work and heeds its signal", async () => {
    const stage = await stageWith(minutely("wait"), { start: START }, () => ({ takesMs: 280 * SECOND }));
    await stage.playUntil(plusMs(NOON, 65 * SECOND));
    const { leaseUntil = NOON } = await cancelOccurrence(stage.world.engine, stage.world.row("a", NOON));
    await stage.playUntil(minutesAfter(NOON, 3));
    const [cancelled, next] = stage.runs;
    expect(cancelled?.to).toBeLessThan(leaseUntil);
    expect(next).toMatchObject({ firing: toIso(minutesAfter(NOON, 1)), from: cancelled?.to });
  });

  it("blocks nobody where it was cancelled before it started", async () => {
    const stage = await stageWith(minutely("wait"), { start: START });
    stage.consuming = false;
    await stage.playUntil(plusMs(NOON, 5 * MINUTE));
    await cancelOccurrence(stage.world.engine, stage.world.row("a", NOON));
    stage.consuming = true;
    await stage.playUntil(plusMs(NOON, 6 * MINUTE + SECOND));
    expect(stage.runs.length).toBeGreaterThan(0);
    expect(stage.ran()).not.toContain(toIso(NOON));
  });

  it("blocks until its lease has ended where it was cancelled at work, and whoever waits goes on at that moment", async () => {
    const stage = await stageWith(minutely("wait"), { start: START }, () => ({ takesMs: 280 * SECOND }));
    await stage.playUntil(plusMs(NOON, 65 * SECOND));
    const { leaseUntil = NOON } = await cancelOccurrence(stage.world.engine, stage.world.row("a", NOON));
    expect(stage.world.row("a", NOON)).toMatchObject({ status: "CANCELLED", cancelReason: "requested" });
    expect(waiting(stage).map(({ dueAt }) => dueAt)).toEqual([leaseUntil]);
  });

  it("lets whoever waits go on at once where it was cancelled before it started", async () => {
    const stage = await stageWith(minutely("wait"), { start: START });
    stage.consuming = false;
    await stage.playUntil(plusMs(NOON, 65 * SECOND));
    expect(waiting(stage).map(({ dueAt }) => dueAt)).toEqual([minutesAfter(NOON, 2)]);
    await cancelOccurrence(stage.world.engine, stage.world.row("a", NOON));
    expect(waiting(stage).map(({ dueAt }) => dueAt)).toEqual([stage.now]);
  });

  it.each([
    ["whose worker was lost", { retry: { maxAttempts: 1 } }, startAndVanish],
    [
      "that was never started",
      { startDeadlineSeconds: 60 },
      async (stage: Stage) => {
        stage.consuming = false;
        await stage.rest();
      },
    ],
  ] as const)("lets whoever waits go on at once where it was one %s", async (_, given, mishap) => {
    const stage = await stageWith(minutely("wait", { rate: "20 seconds", ...given }), { start: START });
    stage.consuming = false;
    await stage.playUntil(NOON);
    await mishap(stage);
    await stage.playUntil(plusMs(NOON, 25 * SECOND));
    const dead = () => stage.world.row("a", NOON).status === "DEAD_LETTERED";
    for (let second = 26; !dead(); second += 1) await stage.playUntil(plusMs(NOON, second * SECOND));
    expect(stage.world.row("a", plusMs(NOON, 20 * SECOND)).claimedAt).toBe(stage.now);
  });

  it("blocks nobody where its row is gone", async () => {
    const stage = await stageWith(minutely("skip"), { start: START });
    const gone = { scheduleId: "a", asRead: undefined, holder: "2020-01-01T00:00:00.000Z", expiresAtSeconds: 1 };
    expect(await stage.world.engine.occurrences.passGates([gone])).toEqual([{ kind: "passed" }]);
    await stage.playUntil(NOON);
    expect(stage.ran().map(clockTime)).toEqual(["12:00"]);
  });
});

describe("a firing that replaces the run before it", () => {
  it("stops it, and starts when its job has ended: it hears of it with its next renewal", async () => {
    const stage = await stageWith(minutely("replace"), { start: START }, () => ({ takesMs: 280 * SECOND }));
    await stage.playUntil(plusMs(NOON, 5 * MINUTE));
    expect(overlaps(stage.runs)).toEqual([]);
    expect(stage.runs.length).toBeGreaterThanOrEqual(4);
    expect(stage.world.row("a", NOON).status).toBe("CANCELLED");
    for (const run of stage.runs)
      expect(run.from - Date.parse(run.firing)).toBeLessThanOrEqual(LEASES.renewEveryMs + SECOND);
  });

  it("waits for no lease where nobody had started that run", async () => {
    const stage = await stageWith(minutely("replace"), { start: START });
    stage.consuming = false;
    // The message was sent twice by 12:01: the queue holds it under a lease of an hour.
    await stage.playUntil(plusMs(NOON, 65 * SECOND));
    stage.consuming = true;
    await stage.playUntil(plusMs(NOON, 70 * SECOND));
    expect(stage.ran().map(clockTime)).toEqual(["12:01"]);
    expect(stage.world.row("a", NOON).status).toBe("CANCELLED");
  });

  it("is a head: what is run by hand or tried again replaces nothing", async () => {
    const stage = await stageWith(minutely("replace", { rate: "10 minutes" }), { start: START }, () => ({
      takesMs: 200 * SECOND,
    }));
    await stage.playUntil(minutesAfter(NOON, 1));
    await runNow(stage.world.engine, "a", { key: "by-hand" });
    await stage.playUntil(minutesAfter(NOON, 9));
    expect(stage.world.row("a", NOON).status).toBe("SUCCEEDED");
    expect(stage.world.row("a", "manual#by-hand").status).toBe("SUCCEEDED");
    expect(overlaps(stage.runs)).toEqual([]);
  });
});

describe("missed firings that are caught up with and must not overlap", () => {
  it.each([1, 3])("keep the order of instants, live ones included, over %s shards", async (shards) => {
    const item = minutely("wait", { rate: "5 minutes", misfire: { policy: "all" } });
    const stage = await stageWith(item, { start: START, settings: { shards } });
    await stage.playUntil(NOON);
    stage.dispatching = false;
    await stage.playUntil(minutesAfter(NOON, 42));
    stage.dispatching = true;
    stage.job = () => ({ takesMs: 50 * SECOND });
    await stage.playUntil(minutesAfter(NOON, 60));
    const ran = stage.ran();
    expect(ran).toEqual(ran.toSorted());
    expect(ran.map(clockTime).slice(0, 12)).toEqual(
      Array.from({ length: 12 }, (_, index) => clockTime(toIso(minutesAfter(NOON, 5 * index)))),
    );
    expect(overlaps(stage.runs)).toEqual([]);
  });
});
