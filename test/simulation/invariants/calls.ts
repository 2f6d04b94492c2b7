import { POLL_MS } from "../../../lib/app/engine/dispatch.ts";
import { WRITE_TRIES } from "../../../lib/app/engine/settle.ts";
import { type DueRow, isTerminal } from "../../../lib/core/occurrence.ts";
import type { Process, Role } from "../world/process.ts";
import { CLOCK_BEHIND_MS, type Finding, finding, type InvariantOf, isFollowedUp } from "./invariant.ts";

/** What one invocation had to deal with. */
interface Load {
  /** Moments at which rows that the index showed fell due for it: each is one visit of them all. */
  visits: number;
  /** Rows that it saw. */
  rows: number;
  /** Of them those that came with a misfire's decision, or may replace the run before them. */
  misfires: number;
  replacing: number;
  /** What it changed of rows. */
  moves: number;
  /** Its claims whose send has to be followed up, and the runs that it brought to their end where runs take turns. */
  followUps: number;
  turns: number;
  messages: number;
  /** What others changed while it was at work. */
  readonly changesBefore: number;
}

/** Requests for the store's time of one invocation: a first one, a second opinion, and those that narrow it down. */
const PROBES_MAX = 20;
/** Searches after the end of a run for the one that waits for it. */
const SEARCHES = 3;

type Budgets = Readonly<Record<string, (load: Load, more: More) => number>>;

interface More {
  readonly calls: ReadonlyMap<string, number>;
  /** For how long it lived. */
  readonly polls: number;
  readonly shards: number;
  /** How often it may have had to start over. */
  readonly tries: number;
  /** Bodies in the queue that nobody can read. */
  readonly poison: number;
}

const once = () => 1;
const probes = () => PROBES_MAX;
const called = (more: More, name: string): number => more.calls.get(name) ?? 0;

/** How many requests of each name an invocation may send; of any other none. */
const BUDGETS: Readonly<Record<Exclude<Role, "operator">, Budgets>> = {
  dispatcher: {
    probe: probes,
    shardHighWater: () => 2,
    countDeadLetters: (_, { shards }) => shards,
    // Each of its loops polls, and looks again at once after a look in which it moved something.
    due: ({ moves }, { polls, shards }) => (shards + 1) * (polls + 2) + moves,
    "schedules.read": ({ visits }) => visits,
    readGates: ({ visits }) => visits,
    passGates: ({ visits }) => visits,
    // Who holds a turn; what stands where a successor was to be inserted.
    read: (_, more) => called(more, "readGates") + called(more, "insert"),
    insert: ({ visits, misfires }, more) => visits + misfires + called(more, "history"),
    // For each row: where its chain goes on past what stands, and what of its schedule goes before it.
    history: ({ rows, turns }) => 2 * rows + SEARCHES * turns,
    send: ({ visits }) => visits,
    write: ({ visits, followUps, replacing, turns }) => visits + Math.min(visits, followUps) + replacing + turns,
  },
  // Its writes are each a request of its own: see "writes stay within their budget".
  consumer: {
    probe: probes,
    write: () => Number.POSITIVE_INFINITY,
    // What tells a cold start the store's time: a second one where the first answer and the host disagree, more where they tell none.
    read: ({ messages }) => WRITE_TRIES * messages,
    history: ({ turns }) => SEARCHES * turns,
    send: (_, { poison }) => poison,
  },
  notifier: {
    probe: probes,
    send: once,
    publish: once,
    write: once,
    "schedules.read": once,
    history: (_, more) => called(more, "schedules.read"),
    "schedules.pause": (_, more) => called(more, "schedules.read"),
  },
  // One schedule's records, and once more where it changed meanwhile.
  reconciler: {
    probe: probes,
    shardHighWater: once,
    publish: once,
    "schedules.read": (_, { tries }) => tries,
    "schedules.setStatus": (_, { tries }) => tries,
    "schedules.removeAsRead": (_, { tries }) => tries,
    removeHead: ({ moves }, { tries }) => tries + moves,
    insert: (_, { tries }) => 2 * tries,
    read: (_, { tries }) => 2 * tries,
    write: (_, { tries }) => tries,
    // Its heads; where they go on; what of it is open or to be cancelled.
    history: (_, { tries }) => 3 * tries,
  },
};

/**
 * An invocation that nothing happened to sends no more requests of each kind than what it had to deal with calls for: polls by the time
 * for which it lived, the rest by the rows, messages and records that it was given. A sweep, which goes through all there is, and a worker, which lives for long, are not judged, nor are releases of other numbers.
 */
export const callsStayWithinBudget: InvariantOf = (world) => {
  const loads = new WeakMap<Process, Load>();
  let changes = 0;
  let poison = 0;
  let shards = 1;
  const judge = (by: Process, load: Load, at: number): Finding | undefined => {
    if (by.role === "operator" || by.faults > 0 || world.clocksAreWrong || world.hadAnotherRelease) return undefined;
    const polls = (at - by.startedAt) / POLL_MS;
    const more: More = { calls: by.calls, polls, shards, tries: 1 + changes - load.changesBefore, poison };
    for (const [name, count] of by.calls) {
      const budget = BUDGETS[by.role][name]?.(load, more) ?? 0;
      if (count > budget)
        return finding(undefined, `${by.name} sent ${count} requests of ${name}, and had cause to send ${budget}`);
    }
    return undefined;
  };
  return {
    name: "calls stay within their budget",
    on: {
      operator: ({ action }) => {
        if (action === "poison") poison += 1;
      },
      process: ({ what, by, at }) => {
        shards = Math.max(shards, world.settings.shards);
        if (by && what === "started" && by.role !== "operator" && !isForAll(by)) loads.set(by, newLoad(changes));
        const load = by && what === "ended" ? loads.get(by) : undefined;
        return by && load && judge(by, load, at);
      },
      delivered: ({ by }) => {
        const load = by && loads.get(by);
        if (load) load.messages += 1;
      },
      looked: ({ askedAt, rows, ahead, by }) => {
        const load = by && loads.get(by);
        if (load) noteLook(load, askedAt, [...rows, ...ahead]);
      },
      schedule: () => {
        changes += 1;
      },
      row: ({ by }) => {
        changes += 1;
        const load = by && loads.get(by);
        if (load) load.moves += 1;
      },
      moved: (change) => {
        const { old, new: row, by } = change;
        const load = by && loads.get(by);
        if (load === undefined) return undefined;
        const ends = isTerminal(row.status) && (!isTerminal(old.status) || old.status === "CANCELLED");
        if (ends && row.overlap !== "allow") load.turns += 1;
        if (isFollowedUp(change, world)) load.followUps += 1;
        return undefined;
      },
    },
  };
};

/** A sweep, or a worker, which lives for long. */
const isForAll = ({ name }: Process): boolean => name.startsWith("sweeper") || name.startsWith("worker");

const newLoad = (changesBefore: number): Load => ({
  visits: 0,
  rows: 0,
  misfires: 0,
  replacing: 0,
  moves: 0,
  followUps: 0,
  turns: 0,
  messages: 0,
  changesBefore,
});

function noteLook(load: Load, askedAt: number, rows: readonly DueRow[]): void {
  // What was overdue by then comes in one visit, whatever clock it goes by; the rest may come one by one.
  const recent = rows.flatMap(({ dueAt = 0 }) => (dueAt > askedAt - CLOCK_BEHIND_MS ? [dueAt] : []));
  load.visits += Number(recent.length < rows.length) + new Set(recent).size;
  load.rows += rows.length;
  for (const { misfire, overlap } of rows) {
    if (misfire !== undefined) load.misfires += 1;
    if (overlap !== "allow") load.replacing += 1;
  }
}
