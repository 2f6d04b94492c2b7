import { describe, expect, it } from "vitest";
import { runNow } from "../../../lib/app/manage/run-now.ts";
import { plusMs } from "../../../lib/core/instant.ts";
import { NOON } from "../../support/occurrences.ts";
import { MINUTE, minutesAfter, overlaps, SECOND, type Stage, stageWith } from "./stage.ts";
import { frozenAtEachWrite, stoppedAtEachWrite } from "./struck-looks.ts";

const START = plusMs(NOON, -10 * SECOND);

/** A stage at 12:01, where 12:00 is at work until 12:01:30 and both 12:01 and a manual run want its turn. */
async function contested(overlap: string): Promise<Stage> {
  const item = { scheduleId: "a", rate: "1 minute", overlap, timeoutSeconds: 290, misfire: { policy: "all" } };
  const stage = await stageWith(item, { start: START, settings: { shards: 2 } }, () => ({ takesMs: 90 * SECOND }));
  await stage.playUntil(NOON);
  await stage.playUntil(plusMs(NOON, 30 * SECOND));
  await runNow(stage.world.engine, "a", { key: "by-hand" });
  stage.dispatching = false;
  await stage.playUntil(minutesAfter(NOON, 1));
  return stage;
}

/** The same, just after 12:00 has ended: the turn is free. */
async function free(overlap: string): Promise<Stage> {
  const stage = await contested(overlap);
  await stage.playUntil(plusMs(NOON, 95 * SECOND));
  return stage;
}

/** Nothing ran beside anything else, nothing that asked for a turn was lost, and the chain goes on. */
function expectTurnsKept(stage: Stage, overlap: string): void {
  expect(overlaps(stage.runs)).toEqual([]);
  // Under `replace` live firings go on taking each other's place: what was asked for waits for a gap.
  if (overlap !== "replace") expect(stage.ran()).toContain("manual#by-hand");
  const rows = stage.rows();
  const heads = rows.filter(({ status, kind }) => status === "PENDING" && kind === "scheduled");
  expect(heads.length).toBeGreaterThanOrEqual(1);
  if (overlap !== "wait") return;
  const instants = stage.ran().filter((firing) => !firing.startsWith("manual"));
  expect(instants).toEqual(instants.toSorted());
  expect(new Set(instants).size).toBe(instants.length);
}

describe.each(["skip", "wait", "replace"])("turns under %s", (overlap) => {
  it.each([
    ["is at work", "before"],
    ["is at work", "after"],
    ["has ended", "before"],
    ["has ended", "after"],
  ] as const)("are kept where the run before %s and a dispatcher stops %s any of its writes", async (before, when) => {
    const setUp = before === "is at work" ? contested : free;
    const stops = await stoppedAtEachWrite(
      when,
      () => setUp(overlap),
      async (stage) => {
        stage.dispatching = true;
        await stage.playUntil(plusMs(NOON, 8 * MINUTE));
        expectTurnsKept(stage, overlap);
      },
    );
    expect(stops).toBeGreaterThan(1);
  });

  it("are kept where one dispatcher is frozen before any of its writes and another goes on (the gate's counter)", async () => {
    const freezes = await frozenAtEachWrite(
      () => free(overlap),
      async ({ stage, thaw }) => {
        stage.dispatching = true;
        await stage.playUntil(plusMs(NOON, 4 * MINUTE));
        await thaw();
        await stage.playUntil(plusMs(NOON, 8 * MINUTE));
        expectTurnsKept(stage, overlap);
      },
    );
    expect(freezes).toBeGreaterThan(1);
  });
});
