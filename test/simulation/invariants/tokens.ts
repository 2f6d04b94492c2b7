import { finding, type InvariantOf, isClaim, isRevival, isStart } from "./invariant.ts";

/** Tokens only grow, by one for each attempt taken, each cancel and each death before a start; one claim has each (occurrence, token). */
export const tokensGrowByOne: InvariantOf = () => ({
  name: "tokens grow by one",
  on: {
    moved: (change) => {
      const { key, old, new: row } = change;
      const grown = row.fencingToken - old.fencingToken;
      if (grown === 0) return undefined;
      if (grown !== 1) return finding(key, `its token went from ${old.fencingToken} to ${row.fencingToken}`);
      return isClaim(change) || row.status === "CANCELLED" || row.deadLetterReason === "never-started"
        ? undefined
        : finding(key, `its token grew on the way from ${old.status} to ${row.status}`);
    },
  },
});

/**
 * Attempts are counted where they are taken and never exceed the budget; a claim that never reached its job costs none:
 * whenever an attempt is taken, those counted before it are those that started.
 */
export const attemptsAreCounted: InvariantOf = () => {
  const started = new Map<string, number>();
  return {
    name: "attempts are counted",
    on: {
      moved: (change) => {
        const { key, old, new: row } = change;
        if (isRevival(change)) started.set(key, 0);
        if (isStart(change)) started.set(key, (started.get(key) ?? 0) + 1);
        if (row.attempts > row.maxAttempts)
          return finding(key, `it took ${row.attempts} of ${row.maxAttempts} attempts`);
        if (row.attempts < 0) return finding(key, `its attempts went down to ${row.attempts}`);
        if (!isClaim(change)) return undefined;
        const before = started.get(key) ?? 0;
        if (old.attempts !== before)
          return finding(key, `it had counted ${old.attempts} attempts, and started ${before}`);
        return row.attempts === old.attempts + 1 ? undefined : finding(key, "a claim was not counted as an attempt");
      },
    },
  };
};

/** A finished state is left only by a replay, or from SKIPPED by a backfill, and never with another token. */
export const finishedStays: InvariantOf = () => ({
  name: "finished stays finished",
  on: {
    moved: ({ key, old, new: row }) => {
      if (!["SUCCEEDED", "FAILED", "DEAD_LETTERED", "SKIPPED", "CANCELLED"].includes(old.status)) return undefined;
      if (row.status === old.status) {
        return row.dueAt === undefined ? undefined : finding(key, `it is ${row.status} and still falls due`);
      }
      const revivable =
        ["FAILED", "DEAD_LETTERED"].includes(old.status) || (old.status === "SKIPPED" && row.kind === "backfill");
      return revivable && row.status === "PENDING" && row.fencingToken === old.fencingToken
        ? undefined
        : finding(key, `it went from ${old.status} to ${row.status}`);
    },
  },
});
