import { describe, expect, it } from "vitest";
import { manualOccurrenceId, occurrenceIdAt, shardOf } from "../../lib/core/ids.ts";
import { plusMs } from "../../lib/core/instant.ts";
import { keyAt, newBackfill, newHead, newManualRun, newStandIn } from "../../lib/core/new-occurrence.ts";
import { formatKey, isHead, parseKey } from "../../lib/core/occurrence.ts";
import { NOON } from "../support/occurrences.ts";
import { scheduleItem, scheduleOf } from "../support/schedules.ts";

const SHARDS = 16;
const NOW = plusMs(NOON, -60_000);
const schedule = scheduleOf(scheduleItem({ payload: { to: "you" }, retry: { maxAttempts: 4 } }));
/** Noon, with half a second of jitter. */
const firing = { scheduledFor: NOON, dueAt: plusMs(NOON, 500) };
const misfire = { policy: "coalesce", count: 3, more: false, from: plusMs(NOON, -600_000), to: NOON } as const;

describe("a new row", () => {
  it("of the chain is a head with the identity of its instant, due when its firing says", () => {
    const head = newHead(schedule, firing, NOW, SHARDS);
    const occurrenceId = occurrenceIdAt("nightly", NOON);
    expect(head).toMatchObject({
      ...keyAt("nightly", NOON),
      occurrenceId,
      kind: "scheduled",
      status: "PENDING",
      scheduledFor: NOON,
      dueAt: firing.dueAt,
      firstDueAt: firing.dueAt,
      createdAt: NOW,
      shard: shardOf(occurrenceId, SHARDS),
      attempts: 0,
      maxAttempts: 4,
      fencingToken: 0,
      log: [],
    });
    expect(head).toMatchObject(schedule.snapshot);
    expect(isHead(head)).toBe(true);
  });

  it("that stands for missed firings is a head too, due at once, and says which", () => {
    const head = newStandIn(schedule, firing, misfire, NOW, SHARDS);
    expect(head).toMatchObject({ dueAt: NOW, firstDueAt: NOW, scheduledFor: NOON, misfire });
    expect(isHead(head)).toBe(true);
  });

  it("of a missed firing has the firing's identity, is due at once, and is no head", () => {
    const row = newBackfill(schedule, firing, NOW, SHARDS);
    expect(row).toMatchObject({ kind: "backfill", dueAt: NOW, occurrenceId: occurrenceIdAt("nightly", NOON) });
    expect(row).not.toHaveProperty("misfire");
    expect(isHead(row)).toBe(false);
  });

  it("that somebody asked for has the identity of their key, and may carry their own payload (F248)", () => {
    const row = newManualRun(schedule, "ticket-7", NOW, SHARDS, "[1]");
    expect(row).toMatchObject({
      firing: "manual#ticket-7",
      occurrenceId: manualOccurrenceId("nightly", "ticket-7"),
      kind: "manual",
      scheduledFor: NOW,
      payload: "[1]",
    });
    expect(newManualRun(schedule, "ticket-7", NOW, SHARDS).payload).toBe('{"to":"you"}');
    expect(isHead(row)).toBe(false);
  });
});

describe("the name of an occurrence", () => {
  it("is written and read as people say it", () => {
    const key = { scheduleId: "nightly", firing: "manual#a@b" };
    expect(formatKey(keyAt("nightly", NOON))).toBe("nightly@2026-11-29T12:00:00.000Z");
    expect(parseKey(formatKey(key))).toEqual(key);
    for (const text of ["nightly", "@x", "nightly@", ""]) expect(parseKey(text)).toBeUndefined();
  });
});
