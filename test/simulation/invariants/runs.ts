import { isDeepStrictEqual } from "node:util";
import type { Occurrence } from "../../../lib/core/occurrence.ts";
import type { Process } from "../world/process.ts";
import { finding, type InvariantOf, isClaim, isRevival, type Moved, moved } from "./invariant.ts";

/** Every start is of an attempt of its own. Without faults each run starts as often as its job's own failures ask for. */
export const startsHaveCauses: InvariantOf = (world) => {
  const starts = new Map<string, Map<number, string>>();
  return {
    name: "starts have causes",
    on: (fact) => {
      if (fact.type !== "job-started") return undefined;
      const { key, token, owner } = fact.attempt;
      const tokens = starts.get(key) ?? new Map<number, string>();
      starts.set(key, tokens);
      const earlier = tokens.get(token);
      tokens.set(token, owner);
      return earlier === undefined
        ? undefined
        : finding(key, `attempt ${token} started twice: ${earlier} and ${owner}`);
    },
    atEnd: () => {
      if (world.tally.faults.size > 0) return [];
      return world.store.allOccurrences().flatMap((row) => {
        const key = `${row.scheduleId}@${row.firing}`;
        const count = starts.get(key)?.size ?? 0;
        if (row.status === "SUCCEEDED" && row.queue === "default" && row.fencingToken !== count)
          return [finding(key, `without any fault it took ${row.fencingToken} attempts and started ${count}`)];
        return [];
      });
    },
  };
};

/** No job begins once the lease of its attempt has ended. */
export const jobsBeginWithinTheirLease: InvariantOf = (world) => ({
  name: "jobs begin within their lease",
  on: (fact) => {
    if (fact.type !== "job-started" || world.clocksAreWrong) return undefined;
    const { leaseUntil } = fact;
    return fact.at >= leaseUntil
      ? finding(fact.attempt.key, `attempt ${fact.attempt.token} began ${fact.at - leaseUntil} ms after its lease`)
      : undefined;
  },
});

/** Nothing is claimed or started before it falls due, or before its nominal instant, by the store's clock. */
export const nothingIsEarly: InvariantOf = () => ({
  name: "nothing is early",
  on: (fact) => {
    if (fact.type === "job-started" && fact.at < fact.scheduledFor)
      return finding(fact.attempt.key, `it started ${fact.scheduledFor - fact.at} ms before its instant`);
    const change = moved(fact);
    if (change === undefined || !isClaim(change)) return undefined;
    const { key, old, at } = change;
    return old.dueAt !== undefined && at >= old.dueAt
      ? undefined
      : finding(key, `it was claimed ${(old.dueAt ?? at) - at} ms before it fell due`);
  },
});

/**
 * What a runner reports changes the row only while it holds it: its own token, its own owner, still running. Of a run that was cancelled
 * it says when its attempt ended.
 */
export const staleReportsChangeNothing: InvariantOf = () => {
  const holds = new WeakMap<Process, Map<string, { token: number; owner: string }>>();
  return {
    name: "stale reports change nothing",
    on: (fact) => {
      const change = moved(fact);
      if (change === undefined || change.by?.role !== "consumer") return undefined;
      const { key, old, new: row, by } = change;
      // The end of a run brings the next one of its schedule forward: that one is nobody's yet.
      const broughtForward = old.status === "PENDING" && row.status === "PENDING";
      if (isRevival(change) || broughtForward) return undefined;
      const own = holds.get(by) ?? new Map<string, { token: number; owner: string }>();
      holds.set(by, own);
      if (old.status === "DISPATCHED" && row.status === "RUNNING") {
        own.set(key, { token: row.fencingToken, owner: row.owner ?? "" });
        return undefined;
      }
      const held = own.get(key);
      if (held?.token === old.fencingToken && held.owner === old.owner && old.status === "RUNNING") return undefined;
      if (held && standsDown(change, held)) return undefined;
      const as = held ? `attempt ${held.token} (${held.owner})` : "no attempt of its own";
      return finding(
        key,
        `${by.name} with ${as} changed ${old.status}/${old.fencingToken} (${old.owner}) to ${row.status}`,
      );
    },
  };
};

/** Whether a runner said of a run that was cancelled when its attempt ended, and nothing else. */
function standsDown({ old, new: row }: Moved, { token, owner }: { token: number; owner: string }): boolean {
  const { log: before, ...then } = old;
  const { log: after, ...now } = row;
  const others = (log: Occurrence["log"]) => log.filter((entry) => entry.token !== token);
  // A log of more than its most entries loses the oldest.
  const lost = before.length - after.length;
  return (
    old.status === "CANCELLED" &&
    old.fencingToken === token + 1 &&
    old.owner === owner &&
    isDeepStrictEqual(then, now) &&
    isDeepStrictEqual(others(before).slice(lost), others(after))
  );
}

/** Of the effects that a fencing store took, no two are of one token by different holders, and the last is the newest attempt's. */
export const effectsAreFenced: InvariantOf = () => {
  const taken = new Map<string, Map<number, string>>();
  return {
    name: "effects are fenced",
    on: (fact) => {
      if (fact.type !== "effect" || !fact.accepted) return undefined;
      const { key, token, owner } = fact.attempt;
      const tokens = taken.get(key) ?? new Map<number, string>();
      taken.set(key, tokens);
      const earlier = tokens.get(token);
      tokens.set(token, owner);
      if (earlier !== undefined && earlier !== owner)
        return finding(key, `the effects of ${earlier} and ${owner} both passed with token ${token}`);
      return token < Math.max(...tokens.keys()) ? finding(key, `an effect of token ${token} came last`) : undefined;
    },
    atEnd: (world) =>
      world.store.allOccurrences().flatMap((row) => {
        const key = `${row.scheduleId}@${row.firing}`;
        const tokens = [...(taken.get(key)?.keys() ?? [])];
        if (row.status !== "SUCCEEDED" || tokens.length === 0 || row.queue !== "default") return [];
        return Math.max(...tokens) === row.fencingToken
          ? []
          : [
              finding(
                key,
                `attempt ${row.fencingToken} succeeded, and the effect that stands is of ${Math.max(...tokens)}`,
              ),
            ];
      }),
  };
};
