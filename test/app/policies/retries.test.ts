import { describe, expect, it } from "vitest";
import type { Execution } from "../../../lib/app/engine/run-occurrence.ts";
import { DEAD_LETTER_QUEUE } from "../../../lib/app/ports.ts";
import { plusMs, toIso } from "../../../lib/core/instant.ts";
import type { Occurrence } from "../../../lib/core/occurrence.ts";
import { NOON } from "../../support/occurrences.ts";
import { clockTime, DAY, HOUR, MINUTE, minutesAfter, SECOND, type Stage, stageWith, story } from "./stage.ts";

const START = plusMs(NOON, -10 * SECOND);
const FAILED: Execution = { kind: "failed", error: { name: "Error", message: "no" }, permanent: false };
const failing = (fails: (row: Occurrence) => boolean) => (row: Occurrence) => (fails(row) ? { ends: FAILED } : {});
const always = failing(() => true);
/** Delays of a minute, two and four. */
const retry = { baseDelaySeconds: 60, jitter: false };

/** When each attempt began, by firing: `12:00 at 12:01`. */
const attempts = (stage: Stage): string[] =>
  stage.runs.map(({ firing, from }) => `${clockTime(firing)} at ${clockTime(toIso(from))}`);

describe("the attempts of a run", () => {
  it("are its own: one run that used them up costs the next ones none (F280)", async () => {
    const item = { scheduleId: "a", rate: "10 minutes", retry: { ...retry, maxAttempts: 2 } };
    // The first and the third run fail; the third is tried again like the first.
    const stage = await stageWith(
      item,
      { start: START },
      failing(({ scheduledFor }) => scheduledFor !== NOON + 10 * MINUTE),
    );
    await stage.playUntil(minutesAfter(NOON, 25));
    expect(attempts(stage)).toEqual([
      "12:00 at 12:00",
      "12:00 at 12:01",
      "12:10 at 12:10",
      "12:20 at 12:20",
      "12:20 at 12:21",
    ]);
    expect(stage.rows().map(({ status, attempts }) => [status, attempts])).toEqual([
      ["DEAD_LETTERED", 2],
      ["SUCCEEDED", 1],
      ["DEAD_LETTERED", 2],
      ["PENDING", 0],
    ]);
  });

  it("end: a run that always fails is tried as often as it may, and is one dead letter (F283)", async () => {
    const item = { scheduleId: "a", at: toIso(NOON), retry: { ...retry, maxAttempts: 3 } };
    const stage = await stageWith(item, { start: START }, always);
    stage.announcing = true;
    await stage.playUntil(plusMs(NOON, DAY));
    expect(stage.runs).toHaveLength(3);
    expect(stage.world.queues.peek(DEAD_LETTER_QUEUE)).toHaveLength(1);
  });

  it("follow their backoff, while the next firing stands since the claim (F286)", async () => {
    const stage = await stageWith({ scheduleId: "a", rate: "1 hour", retry }, { start: START }, always);
    await stage.playUntil(NOON);
    expect(story(stage.rows())).toEqual(["12:00 RETRYING", "13:00 PENDING"]);
    await stage.playUntil(minutesAfter(NOON, 10));
    expect(attempts(stage)).toEqual(["12:00 at 12:00", "12:00 at 12:01", "12:00 at 12:03", "12:00 at 12:07"]);
  });

  it("do not wait for the next firing of a daily schedule (F287)", async () => {
    let failures = 2;
    const item = { scheduleId: "a", cron: "0 12 * * *", retry };
    const stage = await stageWith(
      item,
      { start: START },
      failing(() => failures-- > 0),
    );
    await stage.playUntil(plusMs(NOON, DAY));
    expect(attempts(stage)).toEqual(["12:00 at 12:00", "12:00 at 12:01", "12:00 at 12:03", "12:00 at 12:00"]);
    expect(story(stage.rows())).toEqual(["12:00 SUCCEEDED", "12:00 SUCCEEDED", "12:00 PENDING"]);
  });

  it("that are still to come pass the next firing over where runs must not overlap (F289)", async () => {
    const item = { scheduleId: "a", rate: "1 minute", overlap: "skip", retry: { ...retry, baseDelaySeconds: 90 } };
    let failures = 1;
    const stage = await stageWith(
      item,
      { start: START },
      failing(() => failures-- > 0),
    );
    await stage.playUntil(minutesAfter(NOON, 2));
    expect(story(stage.rows())).toEqual([
      "12:00 SUCCEEDED",
      "12:01 SKIPPED:overlap",
      "12:02 SUCCEEDED",
      "12:03 PENDING",
    ]);
  });

  it("wait as long as they are told, longer than any timer or queue could (F290)", async () => {
    const item = {
      scheduleId: "a",
      at: toIso(NOON),
      retry: { baseDelaySeconds: 604_800, maxDelaySeconds: 604_800, jitter: false },
    };
    const stage = await stageWith(item, { start: START }, always);
    await stage.playUntil(plusMs(NOON, 7 * DAY - 1));
    expect(stage.runs).toHaveLength(1);
    await stage.playUntil(plusMs(NOON, 7 * DAY));
    expect(stage.runs).toHaveLength(2);
  });

  it("are none where SQS gave a message up that nobody started: it is sent again, and runs (F311)", async () => {
    const stage = await stageWith({ scheduleId: "a", at: toIso(NOON) }, { start: START });
    stage.consuming = false;
    await stage.playUntil(NOON);
    const { queues } = stage.world;
    const [message] = queues.receive({ queue: "default", max: 1, visibilityMs: HOUR });
    if (message === undefined) throw new Error("nothing was sent");
    queues.delete({ queue: "default", receiptHandle: message.receiptHandle });
    stage.consuming = true;
    await stage.playUntil(plusMs(NOON, 2 * HOUR));
    expect(stage.runs).toHaveLength(1);
    expect(stage.world.row("a", NOON)).toMatchObject({ status: "SUCCEEDED", attempts: 1 });
  });
});
