import { createMemoryQueue, type MemoryQueue } from "../../../lib/adapters/memory/queue.ts";
import { createMemoryStore, type MemoryStore } from "../../../lib/adapters/memory/store.ts";
import { DEAD_LETTER_QUEUE, type ScheduleItem } from "../../../lib/app/ports.ts";
import type { Instant } from "../../../lib/core/instant.ts";
import { isTerminal, type Occurrence } from "../../../lib/core/occurrence.ts";
import type { Settings } from "../../../lib/runtime/env.ts";
import type { FaultPlan } from "../faults/plan.ts";
import {
  type Finding,
  type Heard,
  type Invariant,
  isHeadRow,
  mayWaitForEver,
  moved,
  type Violation,
} from "../invariants/invariant.ts";
import { DefinitionHistory } from "../oracle/definitions.ts";
import { type Release, THIS_RELEASE } from "../platform/release.ts";
import type { Fact, Seen } from "./facts.ts";
import { IndexView } from "./index-view.ts";
import { Kernel } from "./kernel.ts";
import { Prng } from "./prng.ts";
import { Process, type Role } from "./process.ts";
import { TraceHash } from "./trace-hash.ts";

/** What a world is made of. */
export interface WorldOptions {
  readonly seed: number;
  readonly start: number;
  readonly settings: Settings;
  /** How often its schedules fire. */
  readonly pace: "dense" | "sparse";
  readonly plan: (prng: Prng) => FaultPlan;
  /** The code of another release, in worlds where that is deployed. */
  readonly other?: Release | undefined;
  readonly queues: Parameters<typeof createMemoryQueue>[0]["queues"];
  /** How long one way to a service and back takes, in milliseconds. */
  readonly latencyMs: (prng: Prng) => number;
  /** Whether every fact is kept, for a report. */
  readonly recorded: boolean;
}

/** Counts that a run reports at its end. */
export interface Tally {
  io: number;
  readonly faults: Map<string, number>;
}

/** Everything that exists in one simulation: time, chance, the services, the processes, and what was seen of them. */
export class World {
  readonly kernel: Kernel;
  readonly prng: Prng;
  /** What is deployed: environments keep what stood at their cold start. */
  settings: Settings;
  readonly pace: "dense" | "sparse";
  readonly plan: FaultPlan;
  readonly other: Release | undefined;
  readonly store: MemoryStore;
  readonly queue: MemoryQueue;
  readonly index: IndexView;
  readonly live = new Set<Process>();
  /** What is recorded of it, oldest first. */
  readonly seen: Seen[] = [];
  readonly tally: Tally = { io: 0, faults: new Map() };
  readonly hash = new TraceHash();
  readonly definitions = new DefinitionHistory();
  readonly latencyMs: () => number;
  /** The rows that the TTL removed, as they were then. */
  readonly expired = new Map<string, Occurrence>();
  /** The runs whose stream records were lost. */
  readonly recordsLost = new Set<string>();
  /** Whether some host's clocks are so wrong that its leases may be lost for it. */
  clocksAreWrong = false;
  /** Whether another release, with numbers of its own, has been deployed by now. */
  hadAnotherRelease = false;
  /** Runs of instants before this must have ended when the world is judged. */
  dueBefore: Instant | undefined;
  violation: Violation | undefined;
  readonly #rows = new Map<string, Occurrence>();
  readonly #owners = new Map<string, string>();
  readonly #queues: ReadonlySet<string>;
  readonly #recorded: boolean;
  #writer: Process | undefined;
  #processes = 0;
  #nonces = 0;
  readonly #invariants: Invariant[] = [];
  readonly #listening = new Map<keyof Heard, readonly Invariant[]>();
  readonly #nudged: (() => void)[] = [];
  readonly #listeners: ((fact: Seen) => void)[] = [];

  constructor(options: WorldOptions) {
    this.kernel = new Kernel(options.start);
    this.prng = new Prng(options.seed);
    this.settings = options.settings;
    this.pace = options.pace;
    this.other = options.other;
    this.#recorded = options.recorded;
    this.plan = options.plan(this.prng.fork());
    const latencies = this.prng.fork();
    this.latencyMs = () => options.latencyMs(latencies);
    this.#queues = new Set([DEAD_LETTER_QUEUE, ...Object.keys(options.queues)]);
    const now = () => this.kernel.now;
    this.store = createMemoryStore({ now });
    this.queue = createMemoryQueue({ now, queues: options.queues });
    this.store.occurrenceChanges.subscribe(({ key, old, new: row }) => {
      if (row) this.#rows.set(key, row);
      else this.#rows.delete(key);
      if (old?.status === "DISPATCHED" && row?.status === "RUNNING" && this.#writer)
        this.#owners.set(`${this.#writer.name} ${key}:${row.fencingToken}`, row.owner ?? "");
      this.tell({ type: "row", key, ...(old && { old }), ...(row && { new: row }) }, this.#writer);
    });
    this.store.scheduleChanges.subscribe(({ key, old, new: item }) =>
      this.tell({ type: "schedule", scheduleId: key, ...(old && { old }), ...(item && { new: item }) }, this.#writer),
    );
    this.index = new IndexView(this);
  }

  /** A new process; it runs until it is ended or killed. */
  spawn(role: Role, label: string): Process {
    this.#processes += 1;
    const process = new Process(this, `${label}#${this.#processes}`, role);
    this.live.add(process);
    this.tell({ type: "process", what: "started" }, process);
    return process;
  }

  /** Carries out `effect` on a service in the name of `process`, so that what it changes is put down to it. */
  as<T>(process: Process | undefined, effect: () => T): T {
    const before = this.#writer;
    this.#writer = process;
    try {
      return effect();
    } finally {
      this.#writer = before;
    }
  }

  /** Whether there is a queue of that name. */
  hasQueue(name: string): boolean {
    return this.#queues.has(name);
  }

  /** A name that no other claim or start has. */
  readonly nonce = (): string => {
    this.#nonces += 1;
    return `n${this.#nonces}`;
  };

  /** Has `invariant` see every fact from here on. */
  watch(invariant: Invariant): void {
    this.#invariants.push(invariant);
    this.#listening.clear();
  }

  /** Calls `listener` with every later fact, after the invariants. */
  listen(listener: (fact: Seen) => void): void {
    this.#listeners.push(listener);
  }

  /** Has the queues' pollers look again: somebody sent by other ways than a process's. */
  nudge(): void {
    for (const listener of this.#nudged) listener();
  }

  onNudge(listener: () => void): void {
    this.#nudged.push(listener);
  }

  /** Writes a fact down and lets every invariant judge it. The first violation is kept. */
  tell(fact: Fact, by: Process | undefined): void {
    // Five times as fast as a spread, where facts have many shapes.
    const seen: Seen = Object.assign(fact, { at: this.kernel.now, by });
    if (this.#recorded) this.seen.push(seen);
    this.hash.add(seen);
    this.definitions.note(seen);
    if (fact.type === "deployed") this.hadAnotherRelease ||= fact.release !== THIS_RELEASE.name;
    if (fact.type === "fault") this.tally.faults.set(fact.kind, (this.tally.faults.get(fact.kind) ?? 0) + 1);
    this.#judge(seen.type, seen);
    const change = moved(seen);
    if (change !== undefined) this.#judge("moved", change);
    if (seen.type === "expired") this.expired.set(seen.key, seen.row);
    if (seen.type === "record-lost" && seen.key !== undefined) this.recordsLost.add(seen.key);
    for (const listener of this.#listeners) listener(seen);
  }

  /** Asks every invariant for what only shows when the faults are over, or when nothing is left to do. */
  judge(when: "afterHealing" | "atEnd"): void {
    for (const invariant of this.#invariants)
      for (const found of invariant[when]?.(this) ?? []) this.#violate(invariant.name, found);
  }

  /** Whether `version` is what a release that is deployed here makes of `item`. */
  isVersionOf(version: string, item: ScheduleItem): boolean {
    return [THIS_RELEASE, ...(this.other ? [this.other] : [])].some((release) => release.versionOf(item) === version);
  }

  /** By what name `process` started that attempt; none if it did not. */
  ownerOf(process: Process, key: string, token: number): string {
    return this.#owners.get(`${process.name} ${key}:${token}`) ?? "";
  }

  /** The row of that key as it stands. */
  row(key: string): Occurrence | undefined {
    return this.#rows.get(key);
  }

  /** Whether all that was due before {@link dueBefore} has ended and `platform` has nothing under way. */
  isQuiet(platform: { readonly quiet: boolean }): boolean {
    const before = this.dueBefore ?? this.kernel.now;
    return (
      platform.quiet &&
      [...this.#rows.values()].every(
        (row) =>
          isTerminal(row.status) ||
          ((row.dueAt ?? 0) > this.kernel.now && (isHeadRow(row) || mayWaitForEver(row))) ||
          row.scheduledFor >= before,
      )
    );
  }

  #judge<Type extends keyof Heard>(type: Type, fact: Heard[Type]): void {
    for (const { name, on } of this.#listeningTo(type)) {
      const found = on?.[type]?.(fact);
      if (found !== undefined) this.#violate(name, found);
    }
  }

  #listeningTo(type: keyof Heard): readonly Invariant[] {
    const known = this.#listening.get(type);
    if (known !== undefined) return known;
    const listening = this.#invariants.filter(({ on }) => on?.[type] !== undefined);
    this.#listening.set(type, listening);
    return listening;
  }

  #violate(invariant: string, { key, message }: Finding): void {
    this.violation ??= { invariant, key, message, at: this.kernel.now };
  }
}
