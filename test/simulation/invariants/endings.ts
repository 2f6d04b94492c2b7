import { DEAD_LETTER_QUEUE } from "../../../lib/app/ports.ts";
import { isTerminal } from "../../../lib/core/occurrence.ts";
import { type Finding, finding, type InvariantOf, isDeath, isHeadRow, mayWaitForEver } from "./invariant.ts";
import { mayHaveLostItsLease } from "./leases.ts";

/** How long after the last fault a row may still be under way: the queue's lease is the longest of all waits, for each attempt left. */
export const HEALED_WITHIN_MS = 4 * 60 * 60_000;

/** Once the faults are over every run that is due comes to its end: none is lost. */
export const everyRunEnds: InvariantOf = () => ({
  name: "every run ends",
  atEnd: (world) =>
    world.store.allOccurrences().flatMap((row) => {
      const key = `${row.scheduleId}@${row.firing}`;
      if (isTerminal(row.status)) return [];
      if (row.dueAt === undefined) return [finding(key, `it is ${row.status} and never falls due`)];
      const overdueMs = world.kernel.now - Math.max(row.dueAt, row.createdAt);
      const settling = world.dueBefore === undefined || row.scheduledFor >= world.dueBefore;
      if ((isHeadRow(row) || mayWaitForEver(row)) && overdueMs < 0) return [];
      return settling && overdueMs < 60_000
        ? []
        : [finding(key, `it is ${row.status}, overdue by ${overdueMs} ms, for good`)];
    }),
});

/** Each death has its message in the dead-letter queue and its event on the bus, also the second time. */
export const deadLettersAreKnown: InvariantOf = () => {
  const deaths = new Map<string, { key: string; occurrenceId: string; token: number }>();
  const queued = new Set<string>();
  const published = new Set<string>();
  return {
    name: "dead letters are known",
    on: {
      sent: ({ key, token, queue, swallowed }) => {
        if (queue === DEAD_LETTER_QUEUE && !swallowed) queued.add(`${key}:${token}`);
      },
      published: ({ detailType, occurrenceId, token }) => {
        if (/Failed|Dead-Lettered/.test(detailType)) published.add(`${occurrenceId}:${token}`);
      },
      moved: (change) => {
        const { key, new: row } = change;
        const { occurrenceId, fencingToken: token } = row;
        if (isDeath(change)) deaths.set(`${key}:${token}`, { key, occurrenceId, token });
      },
    },
    atEnd: (world) =>
      [...deaths.entries()].flatMap(([name, { key, occurrenceId, token }]): Finding[] => {
        if (world.recordsLost.has(key)) return [];
        return [
          ...(queued.has(name) ? [] : [finding(key, `its death at token ${token} has no message`)]),
          ...(published.has(`${occurrenceId}:${token}`)
            ? []
            : [finding(key, `its death at token ${token} has no event`)]),
        ];
      }),
  };
};

/** What a runner reports of an attempt's end. */
const REPORTS: ReadonlySet<string> = new Set(["SUCCEEDED", "RETRYING", "FAILED", "DEAD_LETTERED"]);

/**
 * A message is deleted only when its token is history, its run finished, or the row's own due time will recover it; and the one
 * that an attempt was begun by, only once its end was reported, or that was tried.
 */
export const acknowledgedWhenSafe: InvariantOf = (world) => {
  const deliveries = new Map<string, number>();
  const begun = new Map<string, string>();
  const reported = new Set<string>();
  return {
    name: "acknowledged only when safe",
    on: {
      delivered: ({ key, token, by }) => {
        const name = `${by?.name} ${key}:${token}`;
        deliveries.set(name, (deliveries.get(name) ?? 0) + 1);
      },
      "job-started": ({ attempt: { key, token, owner }, by }) => {
        begun.set(`${by?.name} ${key}:${token}`, owner);
        // A worker's process may have reported of earlier attempts.
        reported.delete(`${by?.name} ${key}`);
      },
      write: ({ key, status, by }) => {
        if (by?.role === "consumer" && REPORTS.has(status)) reported.add(`${by.name} ${key}`);
      },
      acknowledged: ({ key, token, by, at }) => {
        const row = world.row(key);
        if (row === undefined || isTerminal(row.status) || row.fencingToken > token) return undefined;
        if (row.dueAt === undefined)
          return finding(key, `its message was deleted while it is ${row.status} without a due time`);
        if (row.status === "DISPATCHED" && row.fencingToken === token)
          return finding(key, `its message was deleted, and attempt ${token} waits for it`);
        const name = `${by?.name} ${key}:${token}`;
        // Of more messages than one of an attempt, as where one came again while the job worked, all but one are nobody's.
        if (row.status !== "RUNNING" || begun.get(name) !== row.owner || deliveries.get(name) !== 1) return undefined;
        const tried = reported.has(`${by?.name} ${key}`);
        return tried || world.clocksAreWrong || (by !== undefined && mayHaveLostItsLease(by, at))
          ? undefined
          : finding(key, "its message was deleted before its end was reported");
      },
    },
  };
};
