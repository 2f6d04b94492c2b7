import { describe, expect, it } from "vitest";
import { type Instant, plusMs, toIso } from "../../lib/core/instant.ts";
import { OCCURRENCE_STATUSES, type Occurrence } from "../../lib/core/occurrence.ts";
import { compareTurns, isRightAfter, TURN_WAIT_MS, turnOf, waitsBehind } from "../../lib/core/overlap.ts";
import { anOccurrence, NOON } from "../support/occurrences.ts";
import { scheduleItem, scheduleOf } from "../support/schedules.ts";
import { CLAIM, claimedRow, failureOf, LATER, reportOf, runningRow, startOf, step } from "../support/transitions.ts";

const SECOND = 1_000;
const MINUTE = 60_000;
const NOW = plusMs(NOON, MINUTE);
const head = anOccurrence({ scheduledFor: NOW, dueAt: NOW, firstDueAt: NOW });
const POLICIES = ["skip", "wait", "replace"] as const;
const kindsFor = (row: Occurrence, holder: Occurrence | undefined, now: Instant = NOW) =>
  POLICIES.map((policy) => turnOf(row, policy, holder, now).kind);

const running = { ...runningRow(), leaseUntil: plusMs(NOW, 20 * SECOND), dueAt: plusMs(NOW, 20 * SECOND) };
const cancelledAtWork = step(running, { type: "cancel", reason: "requested" }, NOW);
const claimed = claimedRow();
const lostThenClaimed = step(
  { ...runningRow(), leaseUntil: plusMs(NOW, -1), dueAt: plusMs(NOW, -1) },
  { ...CLAIM, owner: "next" },
  NOW,
);

describe("whose turn it is", () => {
  it.each([
    ["nobody's", undefined],
    ["its own, claimed before or not", anOccurrence({ scheduledFor: NOW, status: "RUNNING" })],
    ["that of a run that succeeded", step(running, { type: "succeed", ...reportOf(running) }, NOW)],
    ["that of a run that failed for good", step(running, failureOf(running, true), NOW)],
    ["that of a run that was skipped", step(anOccurrence(), { type: "skip", reason: "paused" }, NOW)],
    [
      "that of a run cancelled before it was claimed",
      step(anOccurrence(), { type: "cancel", reason: "requested" }, NOW),
    ],
    ["that of a run cancelled before it was started", step(claimed, { type: "cancel", reason: "requested" }, NOW)],
    [
      "that of a run cancelled when its last worker was lost and the next had not started",
      step(lostThenClaimed, { type: "cancel", reason: "requested" }, NOW),
    ],
  ])("is a head's under every policy, where it was %s", (_, holder) => {
    expect(kindsFor(head, holder)).toEqual(["go", "go", "go"]);
  });

  it.each([
    ["has not been sent yet", claimed],
    ["is at work", running],
    ["will be tried again", step(running, failureOf(running, false, MINUTE), NOW)],
    ["lost its worker and has attempts left", { ...running, leaseUntil: plusMs(NOW, -1), dueAt: plusMs(NOW, -1) }],
    ["lost its worker and was claimed again", lostThenClaimed],
    ["was refused by the queue and waits", step(claimed, { type: "release", owner: CLAIM.owner }, NOW)],
    ["passed the gate and was not claimed yet", anOccurrence()],
    ["was cancelled at work, its lease still running", cancelledAtWork],
  ])("is not a head's where the holder %s", (_, holder) => {
    expect(kindsFor(head, holder)).toEqual(["skip", "wait", "replace"]);
  });

  it("is free again to the millisecond when the lease that a cancel left has ended", () => {
    const leaseUntil = cancelledAtWork.leaseUntil ?? NOW;
    expect(kindsFor(head, cancelledAtWork, plusMs(leaseUntil, -1))).toEqual(["skip", "wait", "replace"]);
    expect(kindsFor(head, cancelledAtWork, leaseUntil)).toEqual(["go", "go", "go"]);
  });

  it.each([
    ["a retry", anOccurrence({ status: "RETRYING", attempts: 1, fencingToken: 1, scheduledFor: NOW })],
    ["a replay", anOccurrence({ fencingToken: 3, scheduledFor: NOW })],
    ["a missed firing that is caught up with", anOccurrence({ kind: "backfill", scheduledFor: NOW })],
    ["a manual run", anOccurrence({ kind: "manual", firing: "manual#k", scheduledFor: NOW })],
  ])("is waited for by %s, which skips and replaces nothing", (_, row) => {
    expect(kindsFor(row, running)).toEqual(["wait", "wait", "wait"]);
  });

  it("is everybody's where overlap is allowed", () => {
    expect(turnOf(head, "allow", running, NOW)).toEqual({ kind: "go" });
  });

  it.each(OCCURRENCE_STATUSES)(
    "is never blocked for ever: a holder that is %s can be told from one that is over",
    (status) => {
      const holder = anOccurrence({ status, fencingToken: 1 });
      expect(["go", "wait"]).toContain(turnOf(head, "wait", holder, NOW).kind);
    },
  );
});

describe("when to look again", () => {
  it("is in a minute for one that waits: the holder's end brings it forward", () => {
    expect(turnOf(head, "wait", running, NOW)).toEqual({ kind: "wait", until: plusMs(NOW, TURN_WAIT_MS) });
  });

  it("is at the end of the lease for one that replaces a run at work", () => {
    expect(turnOf(head, "replace", running, NOW)).toEqual({ kind: "replace", until: running.leaseUntil });
    expect(turnOf(head, "replace", cancelledAtWork, NOW)).toEqual({ kind: "replace", until: running.leaseUntil });
  });

  it("is in a moment where nobody is at work: no lease of a message in the queue is waited for", () => {
    const queued = { ...claimed, leaseUntil: plusMs(NOW, 60 * MINUTE) };
    for (const holder of [queued, lostThenClaimed, anOccurrence()])
      expect(turnOf(head, "replace", holder, NOW)).toEqual({ kind: "replace", until: plusMs(NOW, SECOND) });
  });

  it("is in a moment where a lease has run out and its holder was not cancelled yet", () => {
    const lost = { ...running, leaseUntil: LATER };
    expect(turnOf(head, "replace", lost, NOW)).toEqual({ kind: "replace", until: plusMs(NOW, SECOND) });
  });
});

describe("who comes first of those that wait", () => {
  const decision = { policy: "all", count: 2, more: false, from: NOON, to: NOW } as const;
  const rows = {
    live: anOccurrence({ scheduledFor: NOW }),
    older: anOccurrence({ scheduledFor: NOON }),
    caughtUp: anOccurrence({ scheduledFor: plusMs(NOON, 1), kind: "backfill", misfire: decision }),
    backfilled: anOccurrence({ scheduledFor: plusMs(NOON, -MINUTE), kind: "backfill" }),
    manual: anOccurrence({ scheduledFor: plusMs(NOON, 2), kind: "manual", firing: "manual#k" }),
  };

  it("is the older instant, what is caught up with included, and what is backfilled comes last", () => {
    const sorted = Object.values(rows).toSorted(compareTurns);
    expect(sorted).toEqual([rows.older, rows.caughtUp, rows.manual, rows.live, rows.backfilled]);
  });
});

describe("a head that goes in order", () => {
  const decision = { policy: "all", count: 2, more: false, from: NOON, to: NOW } as const;
  const caughtUp = anOccurrence({ kind: "backfill", misfire: decision });

  it("waits behind what is caught up with, until that is over", () => {
    expect(waitsBehind(caughtUp, NOW)).toBe(plusMs(NOW, TURN_WAIT_MS));
    expect(waitsBehind({ ...caughtUp, status: "RETRYING" }, NOW)).toBe(plusMs(NOW, TURN_WAIT_MS));
    expect(waitsBehind({ ...caughtUp, status: "RUNNING" }, NOW)).toBe(plusMs(NOW, TURN_WAIT_MS));
    expect(waitsBehind({ ...caughtUp, status: "SUCCEEDED" }, NOW)).toBeUndefined();
  });

  it("waits behind a head that is late, until that looks again", () => {
    const late = anOccurrence();
    expect(waitsBehind(late, NOW)).toBe(plusMs(NOW, SECOND));
    expect(waitsBehind({ ...late, dueAt: plusMs(NOW, 40 * SECOND) }, NOW)).toBe(plusMs(NOW, 40 * SECOND));
  });

  it.each([
    ["that is not due yet", { firstDueAt: plusMs(NOW, 1), dueAt: plusMs(NOW, 1) }],
    ["that has been claimed, and holds the gate or is over", { fencingToken: 1 }],
    ["that somebody backfilled", { kind: "backfill" }],
    ["that somebody asked for", { kind: "manual" }],
  ] as const)("does not wait behind a row %s", (_, given) => {
    expect(waitsBehind(anOccurrence(given), NOW)).toBeUndefined();
  });

  it("has nothing older to wait for where the firing right before it had the turn", () => {
    const schedule = scheduleOf(scheduleItem({ rate: "1 minute", startAt: toIso(NOON) }));
    const before = anOccurrence({ scheduledFor: NOON, scheduleVersion: schedule.version });
    expect(isRightAfter(head, before, schedule)).toBe(true);
    expect(isRightAfter(head, { ...before, kind: "backfill" }, schedule)).toBe(false);
    expect(isRightAfter(head, { ...before, scheduledFor: plusMs(NOON, -MINUTE) }, schedule)).toBe(false);
    const edited = scheduleOf(scheduleItem({ rate: "20 seconds", startAt: toIso(NOON) }));
    expect(isRightAfter(head, { ...before, scheduledFor: plusMs(NOON, 40 * SECOND) }, edited)).toBe(false);
  });
});

describe("a run that starts while it is being replaced", () => {
  it("is met at work by the next look, since the cancel misses it", () => {
    const started = step(claimed, startOf(1), NOW);
    expect(turnOf(head, "replace", started, NOW)).toEqual({ kind: "replace", until: started.leaseUntil });
    expect(toIso(started.leaseUntil ?? NOON)).toBe("2026-11-29T12:01:30.000Z");
  });
});
