import { describe, expect, it } from "vitest";
import { guardHolds } from "../../lib/core/guard.ts";
import { plusMs } from "../../lib/core/instant.ts";
import { LEASES } from "../../lib/core/lease.ts";
import { isHead } from "../../lib/core/occurrence.ts";
import { DEFAULT_RETRY } from "../../lib/core/retry.ts";
import type { ScheduleSnapshot } from "../../lib/core/schedule.ts";
import { startTransition } from "../../lib/core/transition.ts";
import { anOccurrence, NOON } from "../support/occurrences.ts";
import { CLAIM, claimedRow, isRefused, LATER, runningRow, startOf, step, writeOf } from "../support/transitions.ts";

describe("a claim", () => {
  it("takes an attempt and a token, and gives the dispatcher a minute", () => {
    expect(claimedRow()).toMatchObject({
      status: "DISPATCHED",
      attempts: 1,
      fencingToken: 1,
      owner: "dispatcher",
      claimedAt: NOON,
      leaseUntil: plusMs(NOON, LEASES.claimLeaseMs),
      dueAt: plusMs(NOON, LEASES.claimLeaseMs),
    });
  });

  it("is refused before the row is due, and without a due time", () => {
    const { dueAt: _, ...undated } = anOccurrence();
    expect(isRefused(anOccurrence(), CLAIM, plusMs(NOON, -1))).toBe(true);
    expect(isRefused(undated, CLAIM, NOON)).toBe(true);
  });

  it("repeats in its guard what it decided on: attempts left, and the snapshot's version", () => {
    const { guard } = writeOf(anOccurrence(), CLAIM, NOON);
    expect(guard).toContainEqual({ attribute: "attempts", op: "<", value: 10 });
    expect(guard).toContainEqual({ attribute: "scheduleVersion", op: "=", value: "0123456789abcdef" });
  });

  it.each([2, 3, 7])("is refused with %i attempts taken of 2: exhaustion is at least, never exactly", (attempts) => {
    expect(isRefused(anOccurrence({ attempts, maxAttempts: 2, fencingToken: 9 }), CLAIM, NOON)).toBe(true);
  });

  it("waits for the lease of a running row to run out, and then makes it a suspect", () => {
    const row = runningRow();
    const leaseEnd = plusMs(LATER, LEASES.runLeaseMs);
    expect(isRefused(row, CLAIM, plusMs(leaseEnd, -1))).toBe(true);
    expect(step(row, CLAIM, leaseEnd)).toMatchObject({ suspect: true, attempts: 2, fencingToken: 2 });
    expect(claimedRow()).not.toHaveProperty("suspect");
  });

  it("counts the start deadline from when the attempt fell due", () => {
    const head = step(anOccurrence(), CLAIM, LATER);
    expect(head.firstDueAt).toBe(LATER);
    const retrying = anOccurrence({ status: "RETRYING", attempts: 1, fencingToken: 1, firstDueAt: NOON });
    expect(step(retrying, CLAIM, LATER).firstDueAt).toBe(NOON);
    const lost = runningRow();
    const leaseEnd = plusMs(LATER, LEASES.runLeaseMs);
    expect(step(lost, CLAIM, plusMs(leaseEnd, 7_000)).firstDueAt).toBe(leaseEnd);
  });

  it("takes over an edited definition in the same write, guarded by the version it replaces", () => {
    const { job, queue, timeoutSeconds, startDeadlineSeconds, timezone, misfirePolicy, overlap } = anOccurrence();
    const kept = { job, queue, timeoutSeconds, startDeadlineSeconds, timezone, misfirePolicy, overlap };
    const edited = { scheduleVersion: "new", payload: '{"v":2}', retry: { ...DEFAULT_RETRY, maxAttempts: 3 } };
    const refresh: ScheduleSnapshot = { ...kept, ...edited };
    const event = { ...CLAIM, refresh };
    expect(step(anOccurrence(), event, NOON)).toMatchObject({
      scheduleVersion: "new",
      payload: '{"v":2}',
      maxAttempts: 3,
      retry: { maxAttempts: 3 },
      attempts: 1,
    });
    const { guard } = writeOf(anOccurrence(), event, NOON);
    expect(guard).toContainEqual({ attribute: "attempts", op: "<", value: 3 });
    expect(guard).toContainEqual({ attribute: "scheduleVersion", op: "=", value: "0123456789abcdef" });
  });
});

describe("a lease", () => {
  const due = (startDeadlineSeconds: number) => anOccurrence({ startDeadlineSeconds });

  it("of a claim reaches no further than the start deadline", () => {
    expect(step(due(20), CLAIM, NOON).leaseUntil).toBe(plusMs(NOON, 20_000));
  });

  it("of a message in the queue reaches no further than the start deadline", () => {
    const row = step(due(600), CLAIM, NOON);
    const again = step(row, { type: "claim-again", owner: "second" }, plusMs(NOON, 60_000));
    expect(step(again, { type: "queued", owner: "second" }, plusMs(NOON, 60_100)).leaseUntil).toBe(
      plusMs(NOON, 600_000),
    );
  });

  it("still ends after it begins where the deadline has passed: the row leaves the front of the index", () => {
    const late = step(due(20), CLAIM, NOON);
    expect(step(late, { type: "claim-again", owner: "second" }, plusMs(NOON, 60_000)).leaseUntil).toBe(
      plusMs(NOON, 60_001),
    );
  });
});

describe("a claim again", () => {
  const again = { type: "claim-again", owner: "second" } as const;

  it("waits for the claim lease to run out", () => {
    expect(isRefused(claimedRow(), again, plusMs(NOON, LEASES.claimLeaseMs - 1))).toBe(true);
    expect(isRefused(claimedRow(), again, plusMs(NOON, LEASES.claimLeaseMs))).toBe(false);
  });

  it("takes no attempt and no token: the same message, from another owner", () => {
    expect(step(claimedRow(), again, plusMs(NOON, LEASES.claimLeaseMs))).toMatchObject({
      status: "DISPATCHED",
      attempts: 1,
      fencingToken: 1,
      owner: "second",
    });
  });

  it("leaves the message alone for an hour once the queue is known to hold it", () => {
    const queued = step(claimedRow(), { type: "queued", owner: "dispatcher" }, LATER);
    expect(queued).toMatchObject({ status: "DISPATCHED", leaseUntil: plusMs(LATER, LEASES.queueLeaseMs) });
    expect(queued.dueAt).toBe(queued.leaseUntil);
  });
});

describe("a release", () => {
  const release = { type: "release", owner: "dispatcher" } as const;

  it("refunds the attempt and not the token, and leaves no holder", () => {
    const released = step(claimedRow(), release, LATER);
    expect(released).toMatchObject({ status: "PENDING", attempts: 0, fencingToken: 1 });
    expect(released).not.toHaveProperty("owner");
    expect(released).not.toHaveProperty("leaseUntil");
    expect(isHead(released)).toBe(false);
  });

  it("cannot refund twice: its guard fails on the row it left behind, and on a claim of anybody else's", () => {
    const { guard } = writeOf(claimedRow(), release, LATER);
    const released = step(claimedRow(), release, LATER);
    expect(guardHolds(guard, claimedRow())).toBe(true);
    expect(guardHolds(guard, released)).toBe(false);
    expect(guardHolds(guard, { ...claimedRow(), owner: "second" })).toBe(false);
  });

  it("waits 1, 2, 4, ... and at most 60 s with every refusal in a row", () => {
    const waits = Array.from({ length: 9 }, (_, refusals) => {
      const row = step(anOccurrence({ fencingToken: refusals }), CLAIM, NOON);
      return (step(row, release, NOON).dueAt ?? 0) - NOON;
    });
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]);
  });

  it("keeps a suspect a suspect, and does not restart the start deadline", () => {
    const crashed = step(runningRow(), CLAIM, plusMs(LATER, LEASES.runLeaseMs));
    const released = step(crashed, release, plusMs(LATER, LEASES.runLeaseMs + 500));
    expect(released).toMatchObject({ suspect: true, firstDueAt: crashed.firstDueAt });
  });
});

describe("a start", () => {
  it("is not recorded early by a runner whose reading of the store's time is behind the dispatcher's", () => {
    const early = startTransition({ ...startOf(4), scheduledFor: plusMs(NOON, 500) }, NOON).change;
    expect(early.set).toMatchObject({ startedAt: plusMs(NOON, 500), leaseUntil: plusMs(NOON, LEASES.runLeaseMs) });
    const absurd = startTransition({ ...startOf(4), scheduledFor: plusMs(NOON, 86_400_000) }, NOON).change;
    expect(absurd.set.startedAt).toBe(NOON);
  });

  it("is guarded by nothing but the message's own token on a dispatched row", () => {
    expect(startTransition(startOf(4), NOON)).toMatchObject({
      guard: [
        { attribute: "status", op: "=", value: "DISPATCHED" },
        { attribute: "fencingToken", op: "=", value: 4 },
      ],
    });
  });

  it("gives the runner its lease and opens a log entry", () => {
    const row = step(claimedRow(), { ...startOf(1), logs: "group stream" }, LATER);
    expect(row).toMatchObject({
      status: "RUNNING",
      owner: "runner",
      startedAt: LATER,
      leaseUntil: plusMs(LATER, LEASES.runLeaseMs),
      dueAt: plusMs(LATER, LEASES.runLeaseMs),
      log: [{ token: 1, attempt: 1, startedAt: LATER, logs: "group stream" }],
    });
  });

  it("changes nothing once another attempt, an end or a cancel was faster", () => {
    const { guard } = writeOf(claimedRow(), startOf(1), LATER);
    const lost = step(runningRow(), CLAIM, plusMs(LATER, LEASES.runLeaseMs));
    const cancelled = step(claimedRow(), { type: "cancel", reason: "requested" }, LATER);
    for (const row of [
      runningRow(),
      lost,
      cancelled,
      step(claimedRow(), { type: "release", owner: "dispatcher" }, LATER),
    ])
      expect(guardHolds(guard, row)).toBe(false);
  });
});
