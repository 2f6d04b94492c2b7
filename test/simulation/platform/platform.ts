import type { RowChange } from "../../../lib/app/engine/announce.ts";
import { instant } from "../../../lib/core/instant.ts";
import { definitionVersion } from "../../../lib/core/schedule.ts";
import { DISPATCHER } from "../../../lib/core/timing.ts";
import { callsForReconcile } from "../../support/settling.ts";
import { EXACT, type HostClocks } from "../world/host.ts";
import type { World } from "../world/world.ts";
import { runDispatcher, runNotifier, runReconciler, runSweep, type ScheduleRecord } from "./functions.ts";
import { FencedEffects } from "./jobs.ts";
import { QueueSource, type QueueSourceOptions } from "./queue-source.ts";
import { StreamSource, type StreamSourceOptions } from "./stream-source.ts";

/** What the rule that starts dispatchers does with one tick: each entry is one invocation, so many milliseconds late. */
export type Tick = readonly number[];

/** A deployment: how many of each function, what feeds them, and how unreliable that is. */
export interface PlatformOptions {
  readonly dispatchers: number;
  readonly ticks: () => Tick;
  readonly hosts: () => HostClocks;
  readonly queues: readonly Omit<QueueSourceOptions, "hosts">[];
  readonly streams: StreamSourceOptions;
  /** The sweep's period; it runs at no other time. */
  readonly sweepEveryMs: number;
}

/** The functions of a deployment and the event sources that call them, in a world. */
export class Platform {
  readonly effects = new FencedEffects();
  readonly queues: readonly QueueSource[];
  #dispatchers: number;
  readonly #world: World;
  readonly #options: PlatformOptions;
  readonly #schedules: StreamSource<ScheduleRecord>;
  readonly #settling: StreamSource<ScheduleRecord>;
  readonly #changes: StreamSource<RowChange>;

  constructor(world: World, options: PlatformOptions) {
    this.#world = world;
    this.#options = options;
    this.#dispatchers = options.dispatchers;
    const { hosts, streams } = options;
    this.queues = options.queues.map((queue) => new QueueSource(world, { ...queue, hosts }, this.effects));
    const reconciled = () =>
      new StreamSource<ScheduleRecord>(
        world,
        streams,
        (records, done) => {
          const process = world.spawn("reconciler", "reconciler");
          const answer = once(done);
          process.onEnd(() => answer(0));
          runReconciler(process, hosts(), records, (well) => answer(well ? records.length : 0));
        },
        ({ scheduleId }) => world.tell({ type: "record-lost", scheduleId }, undefined),
      );
    this.#schedules = reconciled();
    this.#settling = reconciled();
    this.#changes = new StreamSource<RowChange>(
      world,
      streams,
      (records, done) => {
        const process = world.spawn("notifier", "notifier");
        const answer = once(done);
        process.onEnd(() => answer(0));
        runNotifier(process, hosts(), records, (out) => answer(leading(out)));
      },
      ({ after }) => world.tell({ type: "record-lost", key: `${after.scheduleId}@${after.firing}` }, undefined),
    );
    world.store.scheduleChanges.subscribe(({ key, new: item, at }) => {
      // The record's creation time has whole seconds, as the reconciler's handler reads it.
      const writtenAt = instant(Math.floor(at / 1000) * 1000);
      this.#schedules.push(key, {
        scheduleId: key,
        written: { at: writtenAt, version: item && definitionVersion(item) },
      });
    });
    world.store.occurrenceChanges.subscribe(({ key, old, new: row }) => {
      if (row && callsForReconcile(row)) this.#settling.push(key, { scheduleId: row.scheduleId });
      if (row && isNews(old, row)) this.#changes.push(key, { after: row, ...(old && { before: old }) });
    });
  }

  /** Whether every record of both streams has been processed by all that read them. */
  get quiet(): boolean {
    return this.#schedules.idle && this.#settling.idle && this.#changes.idle;
  }

  /** How many dispatchers each tick starts from now on. */
  set dispatchers(count: number) {
    this.#dispatchers = count;
  }

  /** Switches the consumers off or on: messages wait meanwhile. */
  set stopped(stopped: boolean) {
    for (const queue of this.queues) queue.stopped = stopped;
  }

  /** Starts the rules. */
  start(): void {
    this.#minute();
    this.#world.kernel.after(this.#options.sweepEveryMs, () => this.#sweepRule());
  }

  /** Runs a sweep now. */
  sweep(): void {
    runSweep(this.#world.spawn("sweeper", "sweeper"), this.#options.hosts());
  }

  #minute(): void {
    const of = this.#dispatchers;
    for (let dispatcher = 0; dispatcher < of; dispatcher += 1)
      for (const lateMs of this.#options.ticks())
        this.#world.kernel.after(lateMs, () => {
          const process = this.#world.spawn("dispatcher", `dispatcher-${dispatcher}`);
          runDispatcher(process, this.#options.hosts(), dispatcher, of);
        });
    this.#world.kernel.after(DISPATCHER.minuteMs, () => this.#minute());
  }

  #sweepRule(): void {
    this.sweep();
    this.#world.kernel.after(this.#options.sweepEveryMs, () => this.#sweepRule());
  }
}

/** A host that is right about everything, for scenarios without clock faults. */
export const exactHosts = (): HostClocks => EXACT;

/** The event source's filter: what ended, newly (the notifier needs no other records). */
const TERMINAL: ReadonlySet<string> = new Set(["SUCCEEDED", "FAILED", "DEAD_LETTERED", "SKIPPED", "CANCELLED"]);
const isNews = (old: { status: string } | undefined, row: { status: string }): boolean =>
  TERMINAL.has(row.status) && !(old !== undefined && TERMINAL.has(old.status));

const leading = (out: readonly boolean[]): number => {
  const failed = out.indexOf(false);
  return failed < 0 ? out.length : failed;
};

/** Only the first answer counts: an invocation that answered has also ended. */
function once(done: (count: number) => void): (count: number) => void {
  let answered = false;
  return (count) => {
    if (answered) return;
    answered = true;
    done(count);
  };
}
