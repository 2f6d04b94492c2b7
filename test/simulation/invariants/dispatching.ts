import { DEAD_LETTER_QUEUE } from "../../../lib/app/ports.ts";
import { LEASES } from "../../../lib/core/lease.ts";
import { formatKey } from "../../../lib/core/occurrence.ts";
import { TURN_WAIT_MS } from "../../../lib/core/overlap.ts";
import type { AttemptName } from "../world/facts.ts";
import { finding, type InvariantOf, moved } from "./invariant.ts";

/** By how much a process's reading of the store's time may be behind, with the way of a write. */
const CLOCK_BEHIND_MS = 2_500;
/** So often may a row be looked at in vain: a stale index, a clock behind, races with other dispatchers. */
const LOOKS_MAX = 60;

/** Retries, and releases of what SQS refused, come when the policy says. */
export const delaysLieWithinPolicy: InvariantOf = () => ({
  name: "delays lie within the policy",
  on: (fact) => {
    const change = moved(fact);
    if (change === undefined) return undefined;
    const { key, old, new: row, at, by } = change;
    if (row.dueAt === undefined) return undefined;
    const delayMs = row.dueAt - at;
    if (old.status === "DISPATCHED" && row.status === "PENDING")
      return delayMs <= LEASES.releaseMaxMs ? undefined : finding(key, `a refused send waits ${delayMs} ms`);
    if (old.status !== "RUNNING" || row.status !== "RETRYING") return undefined;
    const { baseDelaySeconds, multiplier, maxDelaySeconds, jitter } = row.retry;
    const ceilingMs = 1000 * Math.min(maxDelaySeconds, baseDelaySeconds * multiplier ** (row.attempts - 1));
    const wishMs = 1000 * Number(/"retryAfterSeconds":(\d+)/.exec(row.payload)?.[1] ?? 0);
    const wished = row.lastError?.name === "PunctualError" || /attempt \d+ fails/.test(row.lastError?.message ?? "");
    if (delayMs > Math.max(ceilingMs, wished ? wishMs : 0) + 1)
      return finding(key, `attempt ${row.attempts} is tried again after ${delayMs} ms, the policy says ${ceilingMs}`);
    const leastMs = Math.max(jitter ? 0 : ceilingMs, wished ? wishMs : 0) - CLOCK_BEHIND_MS;
    if (delayMs >= leastMs || by?.harmedSince(at)) return undefined;
    return finding(key, `attempt ${row.attempts} is tried again after ${delayMs} ms, the least is ${leastMs}`);
  },
});

/** Every row that dispatchers look at is written before long: nothing sits at the front of the index. */
export const visitsWrite: InvariantOf = () => {
  const looks = new Map<string, number>();
  return {
    name: "visits write",
    on: (fact) => {
      // A stale entry costs refused writes; what matters is that none is passed by in silence.
      if (fact.type === "row" || fact.type === "write") looks.delete(fact.key);
      if (fact.type !== "looked" || fact.by?.role !== "dispatcher" || fact.by.harmedSince(fact.at)) return undefined;
      for (const row of fact.rows) {
        const key = formatKey(row);
        const count = (looks.get(key) ?? 0) + 1;
        looks.set(key, count);
        if (count > LOOKS_MAX) return finding(key, `it was looked at ${count} times and never written`);
      }
      return undefined;
    },
  };
};

/**
 * A run is given up as never started only after its deadline. Without faults, a backlog in the queue adds at most one message
 * per attempt and queue lease.
 */
export const backlogsAreHarmless: InvariantOf = (world) => {
  const sentAt = new Map<string, number>();
  const leastMs = LEASES.queueLeaseMs - 300_000;
  return {
    name: "backlogs are harmless",
    on: (fact) => {
      if (fact.type === "sent" && !fact.swallowed && fact.queue !== DEAD_LETTER_QUEUE) {
        const name = `${fact.key}:${fact.token}`;
        const before = sentAt.get(name);
        sentAt.set(name, fact.at);
        if (before !== undefined && fact.at - before < leastMs && world.tally.faults.size === 0)
          return finding(fact.key, `attempt ${fact.token} was sent again after ${fact.at - before} ms`);
      }
      const change = moved(fact);
      if (change?.new.deadLetterReason !== "never-started" || change.old.status === change.new.status) return undefined;
      const { key, old, at } = change;
      const deadline = old.firstDueAt + old.startDeadlineSeconds * 1000;
      return at >= deadline ? undefined : finding(key, `it was given up ${deadline - at} ms before its deadline`);
    },
  };
};

/** A job that kills its process takes no neighbour's attempt along a second time. One that was reported is over, though a deaf job goes on. */
export const neighboursAreSpared: InvariantOf = (world) => {
  const running = new Map<string, Map<string, AttemptName>>();
  const taken = new Map<string, number>();
  return {
    name: "neighbours are spared",
    on: (fact) => {
      const { by } = fact;
      if (by === undefined) return undefined;
      const jobs = running.get(by.name) ?? new Map<string, AttemptName>();
      if (fact.type === "job-started") running.set(by.name, jobs.set(fact.attempt.key, fact.attempt));
      if (fact.type === "job-ended") jobs.delete(fact.attempt.key);
      if (fact.type !== "fault" || fact.kind !== "job-kills-process") return undefined;
      for (const [neighbour, { token }] of jobs) {
        const row = world.row(neighbour);
        const costs = row?.status === "RUNNING" && row.fencingToken === token;
        if (neighbour === fact.where || !costs) continue;
        const pair = `${fact.where} took ${neighbour}`;
        taken.set(pair, (taken.get(pair) ?? 0) + 1);
        if ((taken.get(pair) ?? 0) > 1) return finding(neighbour, `${fact.where} took its attempt along twice`);
      }
      return undefined;
    },
  };
};

/** Without faults a run costs a claim, a start and a report for each attempt, its renewals, and a few lost races. */
export const writesStayWithinBudget: InvariantOf = (world) => {
  const writes = new Map<string, number>();
  const renewals = new Map<string, number>();
  return {
    name: "writes stay within their budget",
    on: (fact) => {
      if (fact.type === "write") writes.set(fact.key, (writes.get(fact.key) ?? 0) + 1);
      if (fact.type !== "job-started") return undefined;
      const { key } = fact.attempt;
      renewals.set(
        key,
        (renewals.get(key) ?? 0) + Math.ceil(((world.row(key)?.timeoutSeconds ?? 0) * 1000) / LEASES.renewEveryMs),
      );
      return undefined;
    },
    atEnd: () => {
      if (world.tally.faults.size > 0) return [];
      return world.store.allOccurrences().flatMap((row) => {
        const key = formatKey(row);
        // A misfire's decision is a write of its own before whatever follows from it, and each dispatcher may try both.
        const misfire = row.misfire === undefined ? 0 : 2 * world.dispatchersMax;
        // One that waits for its turn looks again once a minute, and each dispatcher may.
        const waitMs = row.overlap === "allow" ? 0 : (row.claimedAt ?? row.endedAt ?? world.kernel.now) - row.createdAt;
        const looks = Math.ceil(waitMs / TURN_WAIT_MS) * world.dispatchersMax;
        const attempts = row.fencingToken * (2 + 2 * world.dispatchersMax) + (renewals.get(key) ?? 0);
        const budget = attempts + 2 + misfire + looks;
        const count = writes.get(key) ?? 0;
        return count <= budget ? [] : [finding(key, `it took ${count} writes, the budget is ${budget}`)];
      });
    },
  };
};
