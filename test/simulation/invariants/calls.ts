import { POLL_MS } from "../../../lib/app/engine/dispatch.ts";
import { WRITE_TRIES } from "../../../lib/app/engine/settle.ts";
import { type DueRow, isTerminal } from "../../../lib/core/occurrence.ts";
import type { Seen } from "../world/facts.ts";
import type { Process, Role } from "../world/process.ts";
import type { World } from "../world/world.ts";
import { CLOCK_BEHIND_MS, finding, type InvariantOf, isFollowedUp, moved } from "./invariant.ts";

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
    history: ({ rows, turns }) => rows + SEARCHES * turns,
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
  const loadOf = (process: Process): Load => {
    const load = loads.get(process) ?? newLoad(changes);
    loads.set(process, load);
    return load;
  };
  return {
    name: "calls stay within their budget",
    on: (fact) => {
      shards = Math.max(shards, world.settings.shards);
      if (fact.type === "operator" && fact.action === "poison") poison += 1;
      const { by } = fact;
      if (fact.type === "row" || fact.type === "schedule") changes += 1;
      if (by === undefined || by.role === "operator" || isForAll(by)) return undefined;
      const load = loadOf(by);
      note(load, fact, world);
      if (fact.type !== "process" || fact.what !== "ended" || by.faults > 0) return undefined;
      if (world.clocksAreWrong || world.hadAnotherRelease) return undefined;
      const more: More = {
        calls: by.calls,
        polls: (fact.at - by.startedAt) / POLL_MS,
        shards,
        tries: 1 + changes - load.changesBefore,
        poison,
      };
      for (const [name, count] of by.calls) {
        const budget = BUDGETS[by.role][name]?.(load, more) ?? 0;
        if (count > budget)
          return finding(undefined, `${by.name} sent ${count} requests of ${name}, and had cause to send ${budget}`);
      }
      return undefined;
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

function note(load: Load, fact: Seen, world: Pick<World, "hasQueue">): void {
  if (fact.type === "delivered") load.messages += 1;
  if (fact.type === "row") load.moves += 1;
  if (fact.type === "looked") noteLook(load, fact.askedAt, [...fact.rows, ...fact.ahead]);
  const change = moved(fact);
  if (change === undefined) return;
  const { old, new: row } = change;
  const ends = isTerminal(row.status) && (!isTerminal(old.status) || old.status === "CANCELLED");
  if (ends && row.overlap !== "allow") load.turns += 1;
  if (isFollowedUp(change, world)) load.followUps += 1;
}

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
