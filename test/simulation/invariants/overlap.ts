import type { Process } from "../world/process.ts";
import { finding, type Heard, type InvariantOf } from "./invariant.ts";

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
  /** Who else works for its schedule; itself no more. */
  const besides = ({ key, owner }: Heard["job-ended"]["attempt"]): readonly Working[] => {
    const scheduleId = world.row(key)?.scheduleId;
    if (scheduleId === undefined) return [];
    const others = (working.get(scheduleId) ?? []).filter((one) => one.owner !== owner);
    working.set(scheduleId, others);
    return others;
  };
  return {
    name: "runs take turns",
    on: {
      moved: ({ key, old, new: row, by }) => {
        if (old.status !== "CANCELLED" || row.status !== "CANCELLED") return undefined;
        const one = working
          .get(row.scheduleId)
          ?.find((standing) => standing.key === key && standing.owner === old.owner);
        return one && one.process === by ? finding(key, "its turn was given up while its job still worked") : undefined;
      },
      "job-ended": ({ attempt }) => {
        besides(attempt);
      },
      "job-started": ({ attempt, by, at, signal: own }) => {
        const { key, owner } = attempt;
        const row = world.row(key);
        const others = besides(attempt);
        if (row === undefined || by === undefined || row.overlap === "allow") return undefined;
        working.set(row.scheduleId, [...others, { key, owner, process: by, since: at, signal: own }]);
        if (world.clocksAreWrong) return undefined;
        const beside = others.find(
          ({ process, since, signal, ...one }) =>
            one.key !== key && process.alive && !process.frozenSince(since) && !signal.aborted,
        );
        return beside
          ? finding(key, `it began beside ${beside.key}, and its schedule's runs must not overlap`)
          : undefined;
      },
    },
  };
};
