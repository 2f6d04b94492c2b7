import { LEASES } from "../../../lib/core/lease.ts";
import { formatKey, isTerminal } from "../../../lib/core/occurrence.ts";
import type { Process } from "../world/process.ts";
import type { World } from "../world/world.ts";
import { type Finding, finding, type InvariantOf, isDeath, isFollowedUp, isStart, type Moved } from "./invariant.ts";

/** Hosts' clocks run a little faster than the store's, and a renewal is under way for a moment. */
const RENEWAL_SLACK_MS = 100;

/** What one process has written of one row, and what it has had cause to. */
interface Account {
  writes: number;
  causes: number;
  /** When its job began and its renewals with that. */
  startedAt: number | undefined;
  /** How often others had changed the row before. */
  readonly changesBefore: number;
}

/**
 * Each write of a row has a cause, so that what a run costs grows only with what happens to it. A process may write a row once
 *
 * - for each time that the due index shows it (a dispatcher), and once more after a claim whose send has to be followed up: one taken
 *   up again, one that is done once SQS has it, one that SQS can never take;
 * - for each delivery (a consumer: the start); for each attempt that it started, a report; for
 *   each job that began, a renewal per period, and one more where the job asks;
 * - for each of its deaths (a notifier, a sweep: the receipt);
 * - twice, and again after each later change (a reconcile or an operator, who do anew what met a row that had moved on since it was read);
 * - for each end of another run of its schedule that it brought about, and each look at one that may replace it, where runs take turns;
 * - for each fault that struck the process: it tries a write again; and once more for a write that its SDK sent twice, which is as good as unanswered.
 */
export const writesStayWithinBudget: InvariantOf = (world) => {
  const accounts = new WeakMap<Process, Map<string, Account>>();
  const turns = new WeakMap<Process, Map<string, number>>();
  const changes = new Map<string, number>();
  const deaths = new Map<string, number>();

  const account = (process: Process, key: string): Account => {
    const own = accounts.get(process) ?? new Map<string, Account>();
    accounts.set(process, own);
    const standing = own.get(key);
    if (standing !== undefined) return standing;
    const fresh: Account = { writes: 0, causes: 0, startedAt: undefined, changesBefore: changes.get(key) ?? 0 };
    own.set(key, fresh);
    return fresh;
  };
  const turn = (process: Process, key: string): void => {
    const own = turns.get(process) ?? new Map<string, number>();
    turns.set(process, own);
    const scheduleId = scheduleOf(key);
    own.set(scheduleId, (own.get(scheduleId) ?? 0) + 1);
  };

  const note = (change: Moved): void => {
    const { key, old, new: row, by } = change;
    changes.set(key, (changes.get(key) ?? 0) + 1);
    if (isDeath(change)) deaths.set(key, (deaths.get(key) ?? 0) + 1);
    if (by === undefined) return;
    if (isFollowedUp(change, world) || isStart(change)) account(by, key).causes += 1;
    if (isTerminal(row.status) && !isTerminal(old.status) && row.overlap !== "allow") turn(by, key);
    // The end of an attempt whose run was cancelled: it is noted, where its report would have been refused.
    if (by.role !== "consumer" || old.status !== "CANCELLED") return;
    account(by, key).causes += 1;
    if (row.overlap !== "allow") turn(by, key);
  };

  const judge = (key: string, at: number, by: Process): Finding | undefined => {
    const own = account(by, key);
    own.writes += 1;
    const anew = (changes.get(key) ?? 0) - own.changesBefore;
    const byRole = { dispatcher: 0, consumer: 0, notifier: 0, reconciler: 2 + anew, operator: 2 + anew }[by.role];
    const struck = by.faults + by.harms.filter(({ kind }) => kind === "sent-twice").length;
    const receipts = by.role === "notifier" || by.role === "reconciler" ? (deaths.get(key) ?? 0) : 0;
    const budget =
      own.causes + renewals(own, at) + byRole + receipts + (turns.get(by)?.get(scheduleOf(key)) ?? 0) + struck;
    return own.writes <= budget
      ? undefined
      : finding(key, `${by.name} wrote it ${own.writes} times, and had cause to ${budget} times`);
  };

  return {
    name: "writes stay within their budget",
    on: {
      moved: (change) => {
        note(change);
      },
      looked: ({ rows, ahead, by }) => {
        if (by?.role !== "dispatcher") return undefined;
        for (const row of [...rows, ...ahead]) {
          account(by, formatKey(row)).causes += 1;
          if (row.overlap !== "allow") turn(by, formatKey(row));
        }
        return undefined;
      },
      delivered: ({ key, by }) => {
        if (by) account(by, key).causes += 1;
      },
      "job-started": ({ attempt: { key }, by, at }) => {
        if (by === undefined) return undefined;
        const own = account(by, key);
        own.causes += Number(isCareful(world, key)) + renewals(own, at);
        own.startedAt = at;
        return undefined;
      },
      write: ({ key, at, by }) => (by ? judge(key, at, by) : undefined),
    },
  };
};

const scheduleOf = (key: string): string => key.slice(0, key.indexOf("@"));

const isCareful = (world: World, key: string): boolean => world.row(key)?.payload.includes('"careful":true') ?? false;

/** Renewals for which there was time since the last job began. */
const renewals = ({ startedAt }: Account, at: number): number =>
  startedAt === undefined ? 0 : Math.floor((at - startedAt) / (LEASES.renewEveryMs - RENEWAL_SLACK_MS));
