import { describe, expect, it } from "vitest";
import { announcementOf, isDeadLetter, isNewDeadLetter, scheduleNews } from "../../lib/core/announcement.ts";
import { OCCURRENCE_STATUSES, type Occurrence, type OccurrenceStatus } from "../../lib/core/occurrence.ts";
import { anOccurrence, NOON } from "../support/occurrences.ts";
import { failureOf, JOB_ERROR, LATER, runningRow, step } from "../support/transitions.ts";

const NONE = { deployment: "Test", started: false, succeeded: false, retrying: false };
const ALL = { ...NONE, started: true, succeeded: true, retrying: true };
const row = (status: OccurrenceStatus, given: Partial<Occurrence> = {}) =>
  anOccurrence({ status, fencingToken: 2, ...given });
const dead = () => step(runningRow(), failureOf(runningRow(), true), LATER);

describe("news of an occurrence", () => {
  const announced = (options: typeof NONE) =>
    OCCURRENCE_STATUSES.filter((status) => announcementOf(undefined, row(status), options) !== undefined);

  it("is every end but a success, and what was asked for", () => {
    expect(announced(NONE)).toEqual(["FAILED", "DEAD_LETTERED", "SKIPPED", "CANCELLED"]);
    expect(announced({ ...NONE, succeeded: true })).toContain("SUCCEEDED");
    expect(announced(ALL)).toEqual(OCCURRENCE_STATUSES.filter((status) => !["PENDING", "DISPATCHED"].includes(status)));
  });

  it("names what it is news of: identity, token, state, and why", () => {
    expect(announcementOf(runningRow(), dead(), NONE)).toEqual({
      detailType: "Occurrence Failed",
      detail: {
        version: 1,
        deployment: "Test",
        occurrenceId: dead().occurrenceId,
        fencingToken: 1,
        status: "FAILED",
        scheduleId: "nightly",
        firing: "2026-11-29T12:00:00.000Z",
        kind: "scheduled",
        scheduledFor: "2026-11-29T12:00:00.000Z",
        job: "send",
        queue: "default",
        attempts: 1,
        maxAttempts: 10,
        reason: "permanent-error",
        error: JOB_ERROR,
      },
    });
    const misfire = { policy: "skip", count: 2, more: false, from: NOON, to: NOON } as const;
    expect(announcementOf(undefined, row("SKIPPED", { skipReason: "misfire", misfire }), NONE)).toMatchObject({
      detail: { reason: "misfire", misfire: { count: 2, from: "2026-11-29T12:00:00.000Z" } },
    });
  });

  it("is told once: a finished row that is touched again is none", () => {
    expect(announcementOf(dead(), { ...dead(), announcedAt: LATER }, ALL)).toBeUndefined();
    expect(announcementOf(dead(), step(dead(), { type: "discard" }, LATER), ALL)).toBeUndefined();
  });

  it("is no replay, and no renewal", () => {
    expect(announcementOf(dead(), step(dead(), { type: "replay" }, LATER), ALL)).toBeUndefined();
    const renewed = step(runningRow(), { type: "renew", token: 1, owner: "runner" }, LATER);
    expect(announcementOf(runningRow(), renewed, ALL)).toBeUndefined();
  });

  it("is each attempt's own: another token in the same state is news", () => {
    expect(announcementOf(row("FAILED", { fencingToken: 1 }), row("FAILED"), NONE)).toBeDefined();
  });
});

describe("a dead letter", () => {
  it("is new when a run ends as one, and when a replayed one does again", () => {
    expect(isNewDeadLetter(runningRow(), dead())).toBe(true);
    expect(isNewDeadLetter(undefined, dead())).toBe(true);
    expect(isNewDeadLetter(dead(), { ...dead(), fencingToken: 2 })).toBe(true);
    expect(isNewDeadLetter(dead(), { ...dead(), announcedAt: LATER })).toBe(false);
  });

  it("is none once it was discarded or replayed", () => {
    expect(isDeadLetter(dead())).toBe(true);
    expect(isDeadLetter(step(dead(), { type: "discard" }, LATER))).toBe(false);
    expect(isDeadLetter(step(dead(), { type: "replay" }, LATER))).toBe(false);
  });
});

describe("news of a schedule", () => {
  const item = { scheduleId: "a", cron: "no" };
  const invalid = (version: string) => ({
    ...item,
    status: { state: "INVALID", version, since: "2026-11-29T12:00:00.000Z", problem: "cron: no" },
  });
  const pausedAt = (at: string, by = "pauseAfterDeadLetters") => ({ ...item, paused: { at, by, note: "3 in a row" } });
  const told = (before: object | undefined, after: object) =>
    scheduleNews(before && { ...before }, { ...after }, NONE).map(({ detailType }) => detailType);

  it("is that it was found invalid, once for each definition", () => {
    expect(told(item, invalid("1"))).toEqual(["Schedule Invalid"]);
    expect(told(undefined, invalid("1"))).toEqual(["Schedule Invalid"]);
    expect(told(invalid("1"), { ...invalid("1"), note: "touched again" })).toEqual([]);
    expect(told(invalid("1"), invalid("2"))).toEqual(["Schedule Invalid"]);
    expect(told(invalid("1"), { ...invalid("1"), status: { ...invalid("1").status, state: "ACTIVE" } })).toEqual([]);
  });

  it("is that it paused itself, and not that somebody else paused it", () => {
    expect(told(item, pausedAt("1"))).toEqual(["Schedule Paused Itself"]);
    expect(told(pausedAt("1"), { ...pausedAt("1"), ...invalid("1") })).toEqual(["Schedule Invalid"]);
    expect(told(pausedAt("1"), pausedAt("2"))).toEqual(["Schedule Paused Itself"]);
    expect(told(item, pausedAt("1", "an operator"))).toEqual([]);
  });
});
