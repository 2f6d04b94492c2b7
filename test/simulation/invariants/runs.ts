import { isDeepStrictEqual } from "node:util";
import type { Occurrence } from "../../../lib/core/occurrence.ts";
import type { Process } from "../world/process.ts";
import { finding, type InvariantOf, isClaim, isRevival, isStart, type Moved } from "./invariant.ts";

/** What led to a run's starts. */
interface Causes {
  /** Jobs that began, and attempts that were started, some of them as their runner was shut down: their jobs need not begin. */
  starts: number;
  begun: number;
  claims: number;
  /** What allows another start: a report that asked for a retry, a revival, a lease that was lost; and the job's own claims that came to nothing. */
  asked: number;
  given: number;
  readonly touchedBy: Set<Process>;
}

/**
 * A run starts once, and once more only for each attempt of it that failed, each lease of it that was lost and each time that somebody
 * wanted it again. Where nothing happened to any process that had to do with it, every claim of it was started.
 */
export const startsHaveCauses: InvariantOf = (world) => {
  const tokens = new Map<string, Map<number, string>>();
  const runs = new Map<string, Causes>();
  const causesOf = (key: string): Causes => {
    const causes = runs.get(key) ?? { starts: 0, begun: 0, claims: 0, asked: 0, given: 0, touchedBy: new Set() };
    runs.set(key, causes);
    return causes;
  };
  const touched = ({ key, by }: Pick<Moved, "key" | "by">): undefined => {
    const { touchedBy } = causesOf(key);
    if (by) touchedBy.add(by);
  };
  return {
    name: "starts have causes",
    on: {
      delivered: touched,
      sent: touched,
      moved: (change) => {
        const { old, new: row } = change;
        touched(change);
        const causes = causesOf(change.key);
        if (isClaim(change)) causes.claims += 1;
        if (isStart(change)) causes.begun += 1;
        const retried = old.status === "RUNNING" && row.status === "RETRYING";
        const lost = old.status === "RUNNING" && isClaim(change);
        if (retried || lost || isRevival(change)) causes.asked += 1;
        if (old.status === "DISPATCHED" && !["DISPATCHED", "RUNNING"].includes(row.status)) causes.given += 1;
      },
      "job-started": ({ attempt: { key, token, owner } }) => {
        const started = tokens.get(key) ?? new Map<number, string>();
        tokens.set(key, started);
        const earlier = started.get(token);
        started.set(token, owner);
        if (earlier !== undefined) return finding(key, `attempt ${token} started twice: ${earlier} and ${owner}`);
        const causes = causesOf(key);
        causes.starts += 1;
        return causes.starts <= 1 + causes.asked
          ? undefined
          : finding(key, `it started ${causes.starts} times, and had cause to ${1 + causes.asked} times`);
      },
    },
    atEnd: () =>
      [...runs].flatMap(([key, { claims, begun, given, touchedBy }]) => {
        const row = world.row(key);
        if (row?.status !== "SUCCEEDED" || row.queue !== "default") return [];
        if (claims - given === begun || [...touchedBy].some(({ faults, killed }) => faults > 0 || killed)) return [];
        return [finding(key, `nothing happened to it, and of ${claims} claims ${begun} started`)];
      }),
  };
};

/** No job begins once the lease of its attempt has ended. */
export const jobsBeginWithinTheirLease: InvariantOf = (world) => ({
  name: "jobs begin within their lease",
  on: {
    "job-started": ({ attempt: { key, token }, at, leaseUntil }) =>
      at < leaseUntil || world.clocksAreWrong
        ? undefined
        : finding(key, `attempt ${token} began ${at - leaseUntil} ms after its lease`),
  },
});

/** Nothing is claimed or started before it falls due, or before its nominal instant, by the store's clock. */
export const nothingIsEarly: InvariantOf = () => ({
  name: "nothing is early",
  on: {
    "job-started": ({ attempt: { key }, at, scheduledFor }) =>
      at < scheduledFor ? finding(key, `it started ${scheduledFor - at} ms before its instant`) : undefined,
    moved: (change) => {
      const { key, old, at } = change;
      return !isClaim(change) || (old.dueAt !== undefined && at >= old.dueAt)
        ? undefined
        : finding(key, `it was claimed ${(old.dueAt ?? at) - at} ms before it fell due`);
    },
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
    on: {
      moved: (change) => {
        const { key, old, new: row, by } = change;
        if (by?.role !== "consumer") return undefined;
        // The end of a run brings the next one of its schedule forward: that one is nobody's yet.
        const broughtForward = old.status === "PENDING" && row.status === "PENDING";
        if (isRevival(change) || broughtForward) return undefined;
        const own = holds.get(by) ?? new Map<string, { token: number; owner: string }>();
        holds.set(by, own);
        if (isStart(change)) {
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
    on: {
      effect: ({ accepted, attempt: { key, token, owner } }) => {
        if (!accepted) return undefined;
        const tokens = taken.get(key) ?? new Map<number, string>();
        taken.set(key, tokens);
        const earlier = tokens.get(token);
        tokens.set(token, owner);
        if (earlier !== undefined && earlier !== owner)
          return finding(key, `the effects of ${earlier} and ${owner} both passed with token ${token}`);
        return token < Math.max(...tokens.keys()) ? finding(key, `an effect of token ${token} came last`) : undefined;
      },
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
