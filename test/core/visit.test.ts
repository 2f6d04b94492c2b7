import { describe, expect, it } from "vitest";
import { plusMs, toIso } from "../../lib/core/instant.ts";
import { OCCURRENCE_STATUSES, type Occurrence } from "../../lib/core/occurrence.ts";
import { decideHead, type ScheduleReading, successorAnchor, visit } from "../../lib/core/visit.ts";
import { anOccurrence, NOON } from "../support/occurrences.ts";
import { scheduleItem, scheduleOf } from "../support/schedules.ts";

const SECOND = 1_000;
const MINUTE = 60_000;
const DAY = 86_400_000;
/** Half a second past noon: when a dispatcher gets to the head. */
const NOW = plusMs(NOON, 500);

describe("a row that came due", () => {
  const row = (given: Partial<Occurrence>) => anOccurrence({ attempts: 1, fencingToken: 1, ...given });

  it.each([
    ["a head", anOccurrence(), "head"],
    ["a released row", row({ attempts: 0 }), "claim"],
    ["a caught-up row", anOccurrence({ kind: "backfill" }), "claim"],
    ["a manual run", anOccurrence({ kind: "manual" }), "claim"],
    ["a retry", row({ status: "RETRYING" }), "claim"],
    ["a claim that nobody started", row({ status: "DISPATCHED" }), "claim-again"],
    ["a run whose worker was lost", row({ status: "RUNNING" }), "claim"],
    ["one with its attempts used up", row({ status: "RUNNING", maxAttempts: 1 }), "worker-lost"],
    ["one with more than its attempts used up", row({ status: "RUNNING", attempts: 3, maxAttempts: 1 }), "worker-lost"],
  ] as const)("wants, as %s, what it is: %s", (_, given, wanted) => {
    expect(visit(given, NOW)).toBe(wanted);
    expect(visit(given, NOON)).toBe(wanted);
    expect(visit(given, plusMs(NOON, -1))).toBe("nothing");
  });

  it("is given up where nobody started it by its deadline, but for a head, whose lateness is a misfire", () => {
    const late = plusMs(NOON, DAY);
    for (const status of ["PENDING", "RETRYING", "DISPATCHED"] as const) {
      expect(visit(row({ status }), plusMs(late, -1))).not.toBe("never-started");
      expect(visit(row({ status }), late)).toBe("never-started");
    }
    expect(visit(anOccurrence(), plusMs(late, 30 * DAY))).toBe("head");
    expect(visit(row({ status: "RUNNING" }), late)).toBe("claim");
  });

  it("wants nothing once it has ended, or where the index shows no due time", () => {
    const ended = OCCURRENCE_STATUSES.slice(4);
    for (const status of ended) expect(visit(row({ status }), NOW)).toBe("nothing");
    const { dueAt: _, ...undated } = anOccurrence();
    expect(visit(undated, NOW)).toBe("nothing");
  });
});

describe("a head at its instant", () => {
  const firesAtNoon = scheduleOf(scheduleItem());
  const head = (given: Partial<Occurrence> = {}) => anOccurrence({ scheduleVersion: firesAtNoon.version, ...given });
  const found = (given: Record<string, unknown> = {}): ScheduleReading => ({
    kind: "found",
    schedule: scheduleOf(scheduleItem(given)),
  });
  const successorOf = (decision: ReturnType<typeof decideHead>) =>
    "successor" in decision ? decision.successor?.firing.scheduledFor : undefined;
  const known = (version: string, since: number) => ({
    status: { state: "ACTIVE", version, since: toIso(plusMs(NOON, since)) },
  });

  it("runs, and its successor follows from its own instant, however late it is seen to (F260)", () => {
    for (const lateMs of [0, 500, 100 * SECOND]) {
      const decision = decideHead(head(), found(), plusMs(NOON, lateMs));
      expect(decision).toMatchObject({ kind: "run" });
      expect(decision).not.toHaveProperty("refresh");
      expect(successorOf(decision)).toBe(plusMs(NOON, 5 * MINUTE));
    }
  });

  it("is deleted with its schedule, and has no successor", () => {
    expect(decideHead(head(), { kind: "missing" }, NOW)).toEqual({ kind: "skip", reason: "deleted" });
  });

  it("is passed over where the definition does not validate: nothing goes on until it is mended", () => {
    expect(decideHead(head(), { kind: "invalid" }, NOW)).toEqual({ kind: "skip", reason: "edited" });
  });

  it.each([
    ["disabled", { enabled: false }],
    ["paused", { paused: { at: toIso(NOON) } }],
    ["paused", { paused: true }],
  ])("is passed over as %s by %j, and the chain goes on", (reason, given) => {
    const decision = decideHead(head(), found(given), NOW);
    expect(decision).toMatchObject({ kind: "skip", reason });
    expect(successorOf(decision)).toBe(plusMs(NOON, 5 * MINUTE));
  });

  it("is passed over where the schedule was resumed after it, and runs where it was resumed by then (F254)", () => {
    expect(decideHead(head(), found({ resumedAt: toIso(plusMs(NOON, 1)) }), NOW)).toMatchObject({
      kind: "skip",
      reason: "paused",
    });
    expect(decideHead(head(), found({ resumedAt: toIso(NOON) }), NOW)).toMatchObject({ kind: "run" });
  });

  it("runs as the edited definition says, where that still fires at its instant", () => {
    const decision = decideHead(head(), found({ payload: { v: 2 } }), NOW);
    expect(decision).toMatchObject({ kind: "run", refresh: { payload: '{"v":2}' } });
  });

  it("is passed over where the edited definition does not fire at its instant (F242, F245)", () => {
    const decision = decideHead(head(), found({ rate: undefined, cron: "30 * * * *" }), NOW);
    expect(decision).toMatchObject({ kind: "skip", reason: "edited" });
    expect(successorOf(decision)).toBe(plusMs(NOON, 30 * MINUTE));
  });

  it("runs as it is after an edit and its reversal: the version is the definition's", () => {
    const back = scheduleOf(scheduleItem(known(firesAtNoon.version, -100)));
    expect(decideHead(head(), { kind: "found", schedule: back }, NOW)).not.toHaveProperty("refresh");
  });

  it("has no successor where the schedule ends with it", () => {
    expect(decideHead(head(), found({ endAt: toIso(NOON) }), NOW)).toEqual({
      kind: "run",
      refresh: expect.anything(),
    });
    const oneShot = scheduleOf({ scheduleId: "once", at: toIso(NOON) });
    const row = anOccurrence({ scheduleId: "once", scheduleVersion: oneShot.version });
    expect(decideHead(row, { kind: "found", schedule: oneShot }, NOW)).toEqual({ kind: "run" });
  });

  describe("whose definition was edited", () => {
    // Every minute now; the head stands for the five-minute grid.
    const edited = (given: Record<string, unknown> = {}) => scheduleOf(scheduleItem({ rate: "1 minute", ...given }));
    const { version } = edited();

    it("has a successor after the edit, where it is known when that was (F241)", () => {
      const schedule = edited(known(version, 90 * SECOND));
      expect(successorAnchor(head(), schedule, plusMs(NOON, 300 * SECOND))).toBe(plusMs(NOON, 90 * SECOND));
    });

    it("has one after its own instant, where the edit came before", () => {
      expect(successorAnchor(head(), edited(known(version, -30 * SECOND)), NOW)).toBe(NOON);
    });

    it("has one after now, where the edit is still to be reconciled", () => {
      expect(successorAnchor(head(), edited(), NOW)).toBe(NOW);
      expect(successorAnchor(head(), edited(known("another", 0)), NOW)).toBe(NOW);
    });
  });
});
