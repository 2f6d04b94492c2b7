import { DEAD_LETTER_QUEUE } from "../../../lib/app/ports.ts";
import { LEASES } from "../../../lib/core/lease.ts";
import type { Process } from "../world/process.ts";
import { finding, type InvariantOf, isClaim, isClaimAgain, isHeadRow, isRevival, isStart } from "./invariant.ts";

/** Between a claim and the send that follows it, answers may be slow; a claim lease is this long at most. */
const CLAIM_LEASE_SLACK_MS = 2_000;

/**
 * An attempt's first message is delivered, never swallowed as a repeat of another's; a claim is given back only where SQS
 * did not take it; and a row is left to the queue only once SQS has its message.
 */
export const messagesCarryTheirAttempts: InvariantOf = () => {
  const takenAt = new Map<string, number>();
  const claimedAt = new Map<string, number>();
  return {
    name: "messages carry their attempts",
    on: {
      sent: ({ key, token, queue, swallowed, at }) => {
        if (queue === DEAD_LETTER_QUEUE) return undefined;
        const name = `${key}:${token}`;
        const first = !takenAt.has(name);
        takenAt.set(name, at);
        return first && swallowed ? finding(key, `the first message of attempt ${token} was swallowed`) : undefined;
      },
      moved: (change) => {
        const { key, old, new: row, at } = change;
        const name = `${key}:${row.fencingToken}`;
        if (isClaim(change) || isClaimAgain(change)) claimedAt.set(key, at);
        if (
          old.status === "DISPATCHED" &&
          row.status === "PENDING" &&
          (takenAt.get(name) ?? 0) > (claimedAt.get(key) ?? 0)
        )
          return finding(key, `attempt ${row.fencingToken} was given back though SQS has its message`);
        if (old.status === "DISPATCHED" && row.status === "SUCCEEDED" && !takenAt.has(name))
          return finding(key, "it is done as soon as SQS has it, and SQS does not have it");
        const waitsMs = row.status === "DISPATCHED" && row.dueAt !== undefined ? row.dueAt - at : 0;
        return waitsMs > LEASES.claimLeaseMs + CLAIM_LEASE_SLACK_MS && !takenAt.has(name)
          ? finding(key, `attempt ${row.fencingToken} is left to the queue for ${waitsMs} ms, and SQS does not have it`)
          : undefined;
      },
    },
  };
};

/** A start is of the attempt that the runner's own message carries. */
export const startsMatchTheirMessages: InvariantOf = () => {
  const delivered = new WeakMap<Process, Set<string>>();
  return {
    name: "starts match their messages",
    on: {
      delivered: ({ key, token, by }) => {
        if (by) delivered.set(by, (delivered.get(by) ?? new Set<string>()).add(`${key}:${token}`));
      },
      moved: (change) => {
        const { key, new: row, by } = change;
        if (by === undefined || !isStart(change)) return undefined;
        return delivered.get(by)?.has(`${key}:${row.fencingToken}`)
          ? undefined
          : finding(key, `attempt ${row.fencingToken} was started by ${by.name}, which had no message of it`);
      },
    },
  };
};

/** A dispatcher that nothing happened to sends what it claimed. */
export const claimsAreSent: InvariantOf = () => {
  const claimers = new Map<string, Process>();
  const sent = new Set<string>();
  return {
    name: "claims are sent",
    on: {
      sent: ({ key, token }) => {
        sent.add(`${key}:${token}`);
      },
      moved: (change) => {
        const { key, new: row, by } = change;
        if (by === undefined) return undefined;
        const claimer = claimers.get(key);
        if (isClaim(change)) claimers.set(key, by);
        if (!isClaimAgain(change) || claimer === undefined || sent.has(`${key}:${row.fencingToken}`)) return undefined;
        return !claimer.harmedSince(claimer.startedAt) && !claimer.killed
          ? finding(key, `${claimer.name} claimed attempt ${row.fencingToken} and never sent it`)
          : undefined;
      },
    },
  };
};

/** A finished run comes back only where somebody asked for it: an operator, or a dead letter's own message that was redriven. */
export const revivalsAreAskedFor: InvariantOf = () => {
  const redriven = new Set<string>();
  return {
    name: "revivals are asked for",
    on: {
      operator: ({ action, name }) => {
        if (action === "redrive") redriven.add(name);
      },
      moved: (change) => {
        const { key, old, by } = change;
        if (!isRevival(change)) return undefined;
        const asked = by?.role === "operator" || redriven.has(`dead:${old.occurrenceId}:${old.fencingToken}`);
        return asked
          ? undefined
          : finding(key, `${by?.name ?? "somebody"} had it run again, and nobody had asked for that`);
      },
    },
  };
};

/** Only heads are passed over, and a head that is due is the dispatcher's: nobody who came after that removes it. */
export const headsAreTheDispatchers: InvariantOf = () => ({
  name: "heads are the dispatcher's",
  on: {
    row: ({ key, old, new: row, by }) => {
      if (old === undefined || row !== undefined) return undefined;
      const late = isHeadRow(old) && old.dueAt !== undefined && by !== undefined && by.startedAt > old.dueAt;
      return late ? finding(key, `${by.name} removed a head that was due when it began`) : undefined;
    },
    moved: ({ key, old, new: row }) =>
      row.status === "SKIPPED" && old.status !== "SKIPPED" && !isHeadRow(old)
        ? finding(key, `it is no head (token ${old.fencingToken}, ${old.kind}) and was skipped: ${row.skipReason}`)
        : undefined,
  },
});
