import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { guardHolds } from "../../lib/core/guard.ts";
import { instant, plusMs } from "../../lib/core/instant.ts";
import { LEASES } from "../../lib/core/lease.ts";
import type { OccurrenceEvent } from "../../lib/core/machine.ts";
import { ATTEMPT_LOG_MAX, isHead, isTerminal, type Occurrence, OUTPUT_MAX_BYTES } from "../../lib/core/occurrence.ts";
import { transition } from "../../lib/core/transition.ts";
import { anOccurrence, NOON } from "../support/occurrences.ts";
import {
  CLAIM,
  claimedRow,
  failureOf,
  HISTORY,
  isRefused,
  JOB_ERROR,
  LATER,
  reportOf,
  runningRow,
  startOf,
  step,
  writeOf,
} from "../support/transitions.ts";

const DAY_MS = 86_400_000;

describe("a renewal", () => {
  const renew = { type: "renew", token: 1, owner: "runner" } as const;

  it("moves lease and alarm clock in one write", () => {
    const until = plusMs(LATER, 9_000 + LEASES.runLeaseMs);
    expect(step(runningRow(), renew, plusMs(LATER, 9_000))).toMatchObject({ leaseUntil: until, dueAt: until });
  });

  it("never shortens a lease, also where the clock was set back", () => {
    expect(step(runningRow(), renew, plusMs(LATER, -4_000)).leaseUntil).toBe(plusMs(LATER, LEASES.runLeaseMs));
    const { guard } = writeOf(runningRow(), renew, LATER);
    expect(guardHolds(guard, { ...runningRow(), leaseUntil: plusMs(LATER, LEASES.runLeaseMs + 1) })).toBe(false);
  });

  it("does not bring a finished row back: it must still be running in the same hands (F316)", () => {
    const { guard } = writeOf(runningRow(), renew, LATER);
    expect(guardHolds(guard, undefined)).toBe(false);
    expect(guardHolds(guard, step(runningRow(), { type: "succeed", ...reportOf(runningRow()) }, LATER))).toBe(false);
    expect(guardHolds(guard, step(runningRow(), CLAIM, plusMs(LATER, LEASES.runLeaseMs)))).toBe(false);
  });
});

describe("a report", () => {
  it("keeps a row for as long as history in DynamoDB's seconds, where leases are milliseconds (F301)", () => {
    const row = runningRow();
    expect(row.leaseUntil).toBe(LATER + 30_000);
    const ended = step(row, { type: "succeed", ...reportOf(row) }, LATER);
    expect(ended).toMatchObject({ endedAt: LATER, expiresAtSeconds: LATER / 1000 + HISTORY.historySeconds });
  });

  it("of success keeps the output and closes the log entry", () => {
    const row = runningRow();
    expect(step(row, { type: "succeed", ...reportOf(row), output: "0" }, plusMs(LATER, 10))).toMatchObject({
      status: "SUCCEEDED",
      endedAt: plusMs(LATER, 10),
      output: "0",
      log: [{ token: 1, endedAt: plusMs(LATER, 10) }],
    });
  });

  it("of success keeps an output to the byte that fits, and says where it kept none", () => {
    const row = runningRow();
    const of = (output: string) => step(row, { type: "succeed", ...reportOf(row), output }, LATER);
    expect(of("é".repeat(OUTPUT_MAX_BYTES / 2))).not.toHaveProperty("outputDropped");
    expect(of(`${"é".repeat(OUTPUT_MAX_BYTES / 2)}x`)).toMatchObject({ outputDropped: true });
    expect(of(`${"é".repeat(OUTPUT_MAX_BYTES / 2)}x`)).not.toHaveProperty("output");
  });

  it("of a failure with attempts left waits for its delay, held by nobody and no suspect any more", () => {
    const row = { ...runningRow(), suspect: true };
    const retrying = step(row, failureOf(row, false, 2_500), LATER);
    expect(retrying).toMatchObject({
      status: "RETRYING",
      dueAt: plusMs(LATER, 2_500),
      firstDueAt: plusMs(LATER, 2_500),
      lastError: JOB_ERROR,
      log: [{ token: 1, endedAt: LATER, error: JOB_ERROR }],
    });
    for (const attribute of ["owner", "leaseUntil", "suspect"]) expect(retrying).not.toHaveProperty(attribute);
  });

  it.each([1, 2, 3])("of a failed attempt %i of 2 is a dead letter from the second on", (attempts) => {
    const row = { ...runningRow(), attempts, maxAttempts: 2 };
    expect(step(row, failureOf(row), LATER).status).toBe(attempts < 2 ? "RETRYING" : "DEAD_LETTERED");
  });

  it("of a permanent failure ends the run at once, in the dead-letter index and kept for good", () => {
    const row = runningRow({ shard: 7 });
    const failed = step(row, failureOf(row, true), LATER);
    expect(failed).toMatchObject({
      status: "FAILED",
      deadLetterReason: "permanent-error",
      deadLetterShard: 7,
      deadLetteredAt: LATER,
      lastError: JOB_ERROR,
    });
    expect(failed).not.toHaveProperty("expiresAtSeconds");
  });

  it("keeps the last ten attempts in the log", () => {
    const row = runningRow();
    const log = Array.from({ length: 14 }, (_, index) => ({ token: index, attempt: index, startedAt: NOON }));
    const next = step({ ...row, fencingToken: 13 }, { ...failureOf(row), token: 13, log }, LATER);
    expect(next.log).toHaveLength(ATTEMPT_LOG_MAX);
    expect(next.log.at(-1)).toMatchObject({ token: 13, endedAt: LATER, error: JOB_ERROR });
    expect(next.log.at(0)).toMatchObject({ token: 4 });
  });

  it("changes nothing when it carries an older token or another owner (F191)", () => {
    const row = runningRow();
    const { guard } = writeOf(row, { type: "succeed", ...reportOf(row) }, LATER);
    expect(guardHolds(guard, { ...row, fencingToken: 2 })).toBe(false);
    expect(guardHolds(guard, { ...row, owner: "second" })).toBe(false);
  });
});

describe("what can never run", () => {
  it("is a lost worker's once attempts are used up and its lease is over", () => {
    const row = { ...runningRow(), maxAttempts: 1 };
    const leaseEnd = plusMs(LATER, LEASES.runLeaseMs);
    expect(isRefused(row, { type: "worker-lost" }, plusMs(leaseEnd, -1))).toBe(true);
    expect(isRefused({ ...row, maxAttempts: 2 }, { type: "worker-lost" }, leaseEnd)).toBe(true);
    expect(step({ ...row, attempts: 5 }, { type: "worker-lost" }, leaseEnd)).toMatchObject({
      status: "DEAD_LETTERED",
      deadLetterReason: "worker-lost",
    });
  });

  it("leaves a suspect behind where its job never said that it came to an end: its replay runs alone, too", () => {
    const crashed = { ...runningRow(), maxAttempts: 1 };
    const leaseEnd = crashed.leaseUntil ?? NOON;
    const unsent = { ...claimedRow(), suspect: true };
    const lost = step(crashed, { type: "worker-lost" }, leaseEnd);
    const rejected = step(unsent, { type: "reject", owner: "dispatcher", error: JOB_ERROR }, LATER);
    const reported = step({ ...crashed, suspect: true }, failureOf(crashed, true), LATER);
    for (const row of [lost, rejected])
      expect(step(row, { type: "replay" }, leaseEnd)).toMatchObject({ suspect: true });
    expect(step(reported, { type: "replay" }, leaseEnd)).not.toHaveProperty("suspect");
  });

  it("is never started past its deadline, but for a head, which its misfire policy judges", () => {
    const row = claimedRow();
    const deadline = plusMs(NOON, DAY_MS);
    expect(isRefused(row, { type: "never-started" }, plusMs(deadline, -1))).toBe(true);
    expect(step(row, { type: "never-started" }, deadline)).toMatchObject({
      status: "DEAD_LETTERED",
      deadLetterReason: "never-started",
      deadLetteredAt: deadline,
    });
    expect(isRefused(anOccurrence(), { type: "never-started" }, plusMs(deadline, DAY_MS))).toBe(true);
  });

  it("fails at once where the queue can never take its message", () => {
    expect(step(claimedRow(), { type: "reject", owner: "dispatcher", error: JOB_ERROR }, LATER)).toMatchObject({
      status: "FAILED",
      deadLetterReason: "rejected-by-queue",
      lastError: JOB_ERROR,
    });
  });
});

describe("a cancel", () => {
  it("ahead of its instant keeps the row for as long as history counts from the instant", () => {
    const nextYear = plusMs(NOON, 365 * DAY_MS);
    const head = anOccurrence({ scheduledFor: nextYear, dueAt: nextYear });
    const cancelled = step(head, { type: "cancel", reason: "requested" }, NOON);
    expect(cancelled.expiresAtSeconds).toBe(nextYear / 1000 + HISTORY.historySeconds);
  });

  it("bumps the token and keeps the lease: whoever still runs can no longer report, and may run until then", () => {
    const row = runningRow();
    const cancelled = step(row, { type: "cancel", reason: "requested" }, LATER);
    expect(cancelled).toMatchObject({ status: "CANCELLED", fencingToken: 2, leaseUntil: row.leaseUntil });
    expect(cancelled).not.toHaveProperty("dueAt");
    expect(guardHolds(writeOf(row, { type: "succeed", ...reportOf(row) }, LATER).guard, cancelled)).toBe(false);
  });
});

describe("standing down from a cancelled run", () => {
  const row = runningRow();
  const event = { type: "stand-down", ...reportOf(row), error: JOB_ERROR } as const;
  const cancelled = () => step(row, { type: "cancel", reason: "requested" }, LATER);

  it("says when its attempt ended, and nothing else", () => {
    const { log } = row;
    expect(step(cancelled(), event, LATER)).toEqual({
      ...cancelled(),
      log: log.map((entry) => ({ ...entry, endedAt: LATER, error: JOB_ERROR })),
    });
  });

  it("is nobody's but the runner's from whom it was taken", () => {
    const { guard } = writeOf(cancelled(), event, LATER);
    expect(guardHolds(guard, cancelled())).toBe(true);
    expect(guardHolds(guard, row)).toBe(false);
    expect(guardHolds(guard, { ...cancelled(), fencingToken: 3 })).toBe(false);
    expect(guardHolds(guard, { ...cancelled(), owner: "another" })).toBe(false);
  });
});

describe("a replay", () => {
  const dead = () => {
    const row = { ...runningRow(), maxAttempts: 1 };
    return { ...step(row, failureOf(row), LATER), announcedAt: LATER };
  };
  const NEXT_DAY = plusMs(NOON, DAY_MS);

  it("begins anew with attempts and stall counters at nothing, the token and the history kept (F281)", () => {
    const replayed = step(dead(), { type: "replay" }, NEXT_DAY);
    expect(replayed).toMatchObject({
      status: "PENDING",
      attempts: 0,
      fencingToken: 1,
      dueAt: NEXT_DAY,
      firstDueAt: NEXT_DAY,
    });
    expect(replayed.log).toHaveLength(1);
    const gone = "owner leaseUntil endedAt expiresAtSeconds lastError deadLetterReason deadLetterShard announcedAt";
    for (const attribute of gone.split(" ")) expect(replayed).not.toHaveProperty(attribute);
    expect(replayed).not.toHaveProperty("deadLetteredAt");
  });

  it("cuts a log to its last ten attempts that crash after crash has lengthened", () => {
    const log = Array.from({ length: 100 }, (_, index) => ({ token: index, attempt: index, startedAt: NOON }));
    const replayed = step({ ...dead(), log }, { type: "replay" }, NEXT_DAY);
    expect(replayed.log.map(({ token }) => token)).toEqual([90, 91, 92, 93, 94, 95, 96, 97, 98, 99]);
  });

  it("is no head: the chain has gone on without it", () => {
    expect(isHead(step(dead(), { type: "replay" }, NEXT_DAY))).toBe(false);
  });

  it("done twice does nothing the second time", () => {
    const { guard } = writeOf(dead(), { type: "replay" }, NEXT_DAY);
    const replayed = step(dead(), { type: "replay" }, NEXT_DAY);
    const row = step(step(replayed, CLAIM, NEXT_DAY), startOf(2, 1), NEXT_DAY);
    const deadAgain = step(row, failureOf(row, true), NEXT_DAY);
    expect(guardHolds(guard, dead())).toBe(true);
    expect(guardHolds(guard, replayed)).toBe(false);
    expect(guardHolds(guard, deadAgain)).toBe(false);
  });

  it("that is never started either dies another death: by its token the two are told apart, and one replay is no other", () => {
    const waiting = { ...anOccurrence({ kind: "manual", startDeadlineSeconds: 60 }) };
    const late = (row: Occurrence) => plusMs(row.firstDueAt, 60_000);
    const first = step(waiting, { type: "never-started" }, late(waiting));
    const replayed = step(first, { type: "replay" }, NEXT_DAY);
    const second = step(replayed, { type: "never-started" }, late(replayed));
    expect(second.status).toBe("DEAD_LETTERED");
    expect(second.fencingToken).toBeGreaterThan(first.fencingToken);
    expect(guardHolds(writeOf(first, { type: "replay" }, NEXT_DAY).guard, second)).toBe(false);
  });

  it("of a skipped firing is a backfill, which no pause holds up", () => {
    const skipped = step(anOccurrence(), { type: "skip", reason: "paused" }, LATER);
    expect(skipped).toMatchObject({ status: "SKIPPED", skipReason: "paused" });
    const wanted = step(skipped, { type: "backfill" }, NEXT_DAY);
    expect(wanted).toMatchObject({ status: "PENDING", kind: "backfill", dueAt: NEXT_DAY });
    expect(wanted).not.toHaveProperty("skipReason");
    expect(isHead(wanted)).toBe(false);
  });

  it("is still possible after a discard, until the row expires", () => {
    const discarded = step(dead(), { type: "discard" }, LATER);
    expect(discarded).not.toHaveProperty("deadLetterShard");
    expect(discarded.expiresAtSeconds).toBe(Math.floor(LATER / 1000) + HISTORY.historySeconds);
    expect(step(discarded, { type: "replay" }, NEXT_DAY)).not.toHaveProperty("expiresAtSeconds");
  });
});

describe("any life of an occurrence", () => {
  const choices = fc.array(
    fc.record({ pick: fc.nat(7), waitMs: fc.integer({ min: 0, max: 90_000 }), owner: fc.constantFrom("a", "b") }),
    { maxLength: 60 },
  );
  const eventOf = (pick: number, owner: string, row: Occurrence): OccurrenceEvent | undefined =>
    (
      [
        { type: "claim", owner },
        { type: "claim-again", owner },
        { type: "release", owner },
        { type: "start", token: row.fencingToken, owner, attempt: row.attempts },
        failureOf(row),
        { type: "worker-lost" },
        { type: "replay" },
        { type: "queued", owner },
      ] as const
    )[pick];

  it("never lets a token shrink, never gives more attempts than the maximum, and stays in the index until it ends", () => {
    fc.assert(
      fc.property(choices, (steps) => {
        let row = anOccurrence({ maxAttempts: 3 });
        let now = NOON;
        for (const { pick, waitMs, owner } of steps) {
          now = instant(now + waitMs);
          const event = eventOf(pick, owner, row);
          const next = event && transition(row, event, now, HISTORY);
          if (event === undefined || next?.kind !== "write" || !guardHolds(next.guard, row)) continue;
          const before = row;
          row = step(row, event, now);
          expect(row.fencingToken).toBeGreaterThanOrEqual(before.fencingToken);
          expect(row.attempts).toBeGreaterThanOrEqual(0);
          expect(row.attempts).toBeLessThanOrEqual(3);
          expect(row.dueAt === undefined).toBe(isTerminal(row.status));
        }
      }),
    );
  });
});
