import type { Process } from "../world/process.ts";
import { finding, type InvariantOf, moved } from "./invariant.ts";

/**
 * Of the runs of a schedule that must not overlap, one works at a time: when one begins, every other that began has ended, lost its
 * process, been frozen, or had its signal aborted. A cancelled run's turn is given up by its runner once its job has ended.
 */
export const runsTakeTurns: InvariantOf = (world) => {
  interface Working {
    readonly key: string;
    readonly owner: string;
    readonly process: Process;
    readonly since: number;
    readonly signal: AbortSignal;
  }
  const working = new Map<string, Working[]>();
  return {
    name: "runs take turns",
    on: (fact) => {
      const change = moved(fact);
      if (change?.old.status === "CANCELLED" && change.new.status === "CANCELLED") {
        const one = working
          .get(change.new.scheduleId)
          ?.find(({ key, owner }) => key === change.key && owner === change.old.owner);
        return one && one.process === change.by
          ? finding(change.key, "its turn was given up while its job still worked")
          : undefined;
      }
      if (fact.type !== "job-started" && fact.type !== "job-ended") return undefined;
      const { key, owner } = fact.attempt;
      const row = world.row(key);
      if (row === undefined || fact.by === undefined) return undefined;
      const others = (working.get(row.scheduleId) ?? []).filter((one) => one.owner !== owner);
      working.set(row.scheduleId, others);
      if (fact.type === "job-ended" || row.overlap === "allow") return undefined;
      working.set(row.scheduleId, [...others, { key, owner, process: fact.by, since: fact.at, signal: fact.signal }]);
      if (world.clocksAreWrong) return undefined;
      const beside = others.find(
        ({ process, since, signal, ...one }) =>
          one.key !== key && process.alive && !process.frozenSince(since) && !signal.aborted,
      );
      return beside
        ? finding(key, `it began beside ${beside.key}, and its schedule's runs must not overlap`)
        : undefined;
    },
  };
};
