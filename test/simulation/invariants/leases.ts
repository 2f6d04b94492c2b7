import { LEASES } from "../../../lib/core/lease.ts";
import type { Process } from "../world/process.ts";
import { finding, type InvariantOf, isClaim, isClaimAgain, isStart } from "./invariant.ts";

/** Nobody takes a row whose lease, by the store's clock, still runs. */
export const liveLeasesAreRespected: InvariantOf = () => ({
  name: "live leases are respected",
  on: {
    moved: (change) => {
      const { key, old, new: row, at, by } = change;
      const taken =
        isClaim(change) || isClaimAgain(change) || (old.status === "RUNNING" && row.status === "DEAD_LETTERED");
      const byHolder = by?.role === "consumer";
      if (!taken || byHolder || old.leaseUntil === undefined || at >= old.leaseUntil) return undefined;
      return finding(
        key,
        `it was taken ${old.leaseUntil - at} ms before its lease ended (${old.status} to ${row.status})`,
      );
    },
  },
});

/**
 * What a fault at a write, or at the read that settles one, may cost of a lease: the wait for an answer and the pause before the next
 * try. A slow answer may take as long as the lease.
 */
const COSTS_MS: Readonly<Record<string, number>> = {
  throttled: 2_000,
  "sent-twice": 2_000,
  "request-lost": 5_000,
  "answer-lost": 5_000,
  "late-effect": 5_000,
  partial: 5_000,
  slow: LEASES.runLeaseMs,
};

/** What must be lost of the time between a renewal and the end of its lease before that may end: less only the ways of requests. */
const SPARE_MS = LEASES.runLeaseMs - LEASES.leaseMarginMs - LEASES.renewEveryMs - 4_000;

/** Whether what happened to a runner since `at`, or shortly before, may have cost it a lease: it died, stood still, or its renewals did not get through. */
export function mayHaveLostItsLease(runner: Process, at: number): boolean {
  const costMs = runner
    .struckSince(at, ["write", "read"])
    .reduce((sum, kind) => sum + (COSTS_MS[kind] ?? LEASES.runLeaseMs), 0);
  return runner.killed || runner.frozenSince(at) || costMs >= SPARE_MS;
}

/** A runner to which nothing happened that may cost it a lease keeps it, however long its job works. */
export const leasesAreLostForACause: InvariantOf = (world) => {
  const holders = new Map<string, { readonly process: Process; readonly since: number; begun: boolean }>();
  return {
    name: "leases are lost for a cause",
    on: {
      "job-started": ({ attempt, by }) => {
        const holder = holders.get(attempt.key);
        if (holder && holder.process === by) holder.begun = true;
      },
      moved: (change) => {
        const { key, old, new: row, by, at } = change;
        if (isStart(change) && by) holders.set(key, { process: by, since: at, begun: false });
        const lost = old.status === "RUNNING" && (isClaim(change) || row.deadLetterReason === "worker-lost");
        if (!lost || by?.role === "consumer") return undefined;
        const holder = holders.get(key);
        if (holder === undefined) return finding(key, "a lease was lost that nobody had");
        const { process, since, begun } = holder;
        // A start whose answer was lost and that could not be settled is handed back: its lease ends unused.
        const wasInDoubt = !begun && process.struckSince(since, ["write"]).length > 0;
        return world.clocksAreWrong || wasInDoubt || mayHaveLostItsLease(process, since)
          ? undefined
          : finding(key, `${process.name} lost its lease though nothing happened to it`);
      },
    },
  };
};

/** Two attempts of one run never act at once, as long as their processes are not frozen: the first one's signal has aborted. */
export const oneAttemptActs: InvariantOf = () => {
  interface Acting {
    readonly token: number;
    readonly owner: string;
    readonly process: Process;
    readonly since: number;
    readonly signal: AbortSignal;
  }
  const acting = new Map<string, Acting[]>();
  return {
    name: "one attempt acts at a time",
    on: {
      "job-ended": ({ attempt: { key, owner } }) => {
        acting.set(
          key,
          (acting.get(key) ?? []).filter((one) => one.owner !== owner),
        );
      },
      "job-started": ({ attempt, by, at, signal: own }) => {
        if (by === undefined) return undefined;
        const { key, token, owner } = attempt;
        const others = acting.get(key) ?? [];
        acting.set(key, [...others, { token, owner, process: by, since: at, signal: own }]);
        const free = others.find(
          ({ process, since, signal }) => process.alive && !process.frozenSince(since) && !signal.aborted,
        );
        return free ? finding(key, `attempt ${token} began while attempt ${free.token} may still act`) : undefined;
      },
    },
  };
};
