import { DEAD_LETTER_QUEUE } from "../../../lib/app/ports.ts";
import { LEASES } from "../../../lib/core/lease.ts";
import type { AttemptName } from "../world/facts.ts";
import type { Process } from "../world/process.ts";
import { CLOCK_BEHIND_MS, finding, type InvariantOf, isClaim, isClaimAgain } from "./invariant.ts";

/** Retries, and releases of what SQS refused, come when the policy says. */
export const delaysLieWithinPolicy: InvariantOf = () => ({
  name: "delays lie within the policy",
  on: {
    moved: ({ key, old, new: row, at, by }) => {
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
      // A report that is tried again keeps the instant that it first said.
      const wasHeldUp = by && (by.frozenSince(at) || by.struckSince(at, ["write", "read"]).length > 0);
      if (delayMs >= leastMs || wasHeldUp) return undefined;
      return finding(key, `attempt ${row.attempts} is tried again after ${delayMs} ms, the least is ${leastMs}`);
    },
  },
});

/** How long after a claim lease has ended a dispatcher may take the row up again and still have its message swallowed as a repeat. */
const IN_TIME_MS = 300_000 - LEASES.claimLeaseMs - 60_000;

/**
 * A run is given up as never started only after its deadline. A backlog in the queue adds at most one message per attempt and queue
 * lease, unless something happened to one of the dispatchers that sent it, or none came for so long that SQS had forgotten the first.
 */
export const backlogsAreHarmless: InvariantOf = (world) => {
  const sentAt = new Map<string, number>();
  const excused = new Set<string>();
  const claimers = new Map<string, Process[]>();
  const leastMs = LEASES.queueLeaseMs - 300_000;
  return {
    name: "backlogs are harmless",
    on: {
      sent: ({ key, token, queue, swallowed, at, by }) => {
        if (swallowed || queue === DEAD_LETTER_QUEUE) return undefined;
        const name = `${key}:${token}`;
        const before = sentAt.get(name);
        sentAt.set(name, at);
        const struck = excused.has(name) || claimers.get(name)?.some(({ faults, killed }) => faults > 0 || killed);
        return before !== undefined &&
          at - before < leastMs &&
          !struck &&
          !world.hadAnotherRelease &&
          by?.role === "dispatcher"
          ? finding(key, `attempt ${token} was sent again after ${at - before} ms`)
          : undefined;
      },
      moved: (change) => {
        const { key, old, new: row, at, by } = change;
        if (by && (isClaim(change) || isClaimAgain(change))) {
          const name = `${key}:${row.fencingToken}`;
          claimers.set(name, [...(claimers.get(name) ?? []), by]);
          if (isClaimAgain(change) && at - (old.dueAt ?? at) > IN_TIME_MS) excused.add(name);
        }
        if (row.deadLetterReason !== "never-started" || old.status === row.status) return undefined;
        const deadline = old.firstDueAt + old.startDeadlineSeconds * 1000;
        return at >= deadline ? undefined : finding(key, `it was given up ${deadline - at} ms before its deadline`);
      },
    },
  };
};

/** How a runner says that it lost an attempt before it could report it. */
const LOST = "a report came too late";

/**
 * A job that kills its process takes no neighbour's attempt along a second time. One that was reported, or whose lease was lost, is
 * over, though a deaf job goes on.
 */
export const neighboursAreSpared: InvariantOf = (world) => {
  const running = new WeakMap<Process, Map<string, AttemptName>>();
  const taken = new Map<string, number>();
  return {
    name: "neighbours are spared",
    on: {
      "job-started": ({ attempt, by }) => {
        if (by) running.set(by, (running.get(by) ?? new Map<string, AttemptName>()).set(attempt.key, attempt));
      },
      "job-ended": ({ attempt, by }) => {
        if (by) running.get(by)?.delete(attempt.key);
      },
      log: ({ message, fields, by }) => {
        if (by && message.startsWith(LOST)) running.get(by)?.delete(String(fields?.["key"]));
      },
      fault: ({ kind, where, by }) => {
        const jobs = by && kind === "job-kills-process" ? running.get(by) : undefined;
        for (const [neighbour, { token }] of jobs ?? []) {
          const row = world.row(neighbour);
          const costs = row?.status === "RUNNING" && row.fencingToken === token;
          if (neighbour === where || !costs) continue;
          const pair = `${where} took ${neighbour}`;
          taken.set(pair, (taken.get(pair) ?? 0) + 1);
          if ((taken.get(pair) ?? 0) > 1) return finding(neighbour, `${where} took its attempt along twice`);
        }
        return undefined;
      },
    },
  };
};
