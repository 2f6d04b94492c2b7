import { DISPATCHER } from "../../../lib/core/timing.ts";
import type { Settings } from "../../../lib/runtime/env.ts";
import { callsForReconcile } from "../../support/settling.ts";
import { EXACT, type HostClocks } from "../world/host.ts";
import type { Role } from "../world/process.ts";
import type { World } from "../world/world.ts";
import { streamRecord } from "./events.ts";
import { type ExpiryOptions, expire } from "./expiry.ts";
import { dispatcherIn, notifierIn, reconcilerIn } from "./functions.ts";
import { FencedEffects } from "./jobs.ts";
import { QueueSource, type QueueSourceOptions } from "./queue-source.ts";
import { type Release, THIS_RELEASE } from "./release.ts";
import { StreamSource, type StreamSourceOptions } from "./stream-source.ts";
import { WorkerSource, type WorkerSourceOptions } from "./worker-source.ts";

/** What the rule that starts dispatchers does with one tick: each entry is one invocation, so many milliseconds late. */
export type Tick = readonly number[];

/** A deployment: how many of each function, what feeds them, and how unreliable that is. */
export interface PlatformOptions {
  readonly dispatchers: number;
  readonly ticks: () => Tick;
  readonly hosts: () => HostClocks;
  /** Which queues the consumer function serves, and which workers do: one may be served by both. */
  readonly queues: readonly Omit<QueueSourceOptions, "hosts">[];
  readonly workers: readonly Omit<WorkerSourceOptions, "hosts">[];
  readonly streams: StreamSourceOptions;
  /** How the TTL removes rows; without it none. */
  readonly expiry?: ExpiryOptions | undefined;
  /** The sweep's period; it runs at no other time. */
  readonly sweepEveryMs: number;
}

/** A dispatcher that finds nothing due is worth starting this long before a row falls due: its cold start, its probes. */
const START_AHEAD_MS = 5_000;
/** What a dispatcher's handler leaves of its invocation. */
const STOP_BEFORE_END_MS = 5_000;
/** A sweep's function timeout. */
const SWEEP_TIMEOUT_MS = 600_000;

/** The functions of a deployment and the event sources that call them, in a world. */
export class Platform {
  readonly effects = new FencedEffects();
  readonly queues: readonly QueueSource[];
  readonly workers: readonly WorkerSource[];
  #dispatchers: number;
  #release = THIS_RELEASE;
  readonly #world: World;
  readonly #options: PlatformOptions;
  readonly #dispatcher: ReturnType<typeof dispatcherIn>;
  readonly #reconciler: ReturnType<typeof reconcilerIn>;
  readonly #notifier: ReturnType<typeof notifierIn>;
  readonly #streams: readonly StreamSource[];

  constructor(world: World, options: PlatformOptions) {
    this.#world = world;
    this.#options = options;
    this.#dispatchers = options.dispatchers;
    const { hosts, streams } = options;
    this.queues = options.queues.map((queue) => new QueueSource(world, { ...queue, hosts }, this.effects));
    this.workers = options.workers.map((workers) => new WorkerSource(world, { ...workers, hosts }, this.effects));
    this.#dispatcher = dispatcherIn(world, hosts);
    const reconciler = reconcilerIn(world, hosts);
    this.#reconciler = reconciler;
    const notifier = notifierIn(world, hosts);
    this.#notifier = notifier;
    const schedules = new StreamSource(world, streams, {
      invoke: (Records, answered) => reconciler.invoke("reconciler", { Records }, answered),
      processed: ({ key, at }, process) => world.tell({ type: "reconciled", scheduleId: key, writtenAt: at }, process),
      lost: ({ key }) => world.tell({ type: "record-lost", scheduleId: key }, undefined),
    });
    const occurrences = new StreamSource(world, streams, {
      invoke: (Records, answered) => notifier.invoke("notifier", { Records }, answered),
      processed: () => undefined,
      lost: ({ key }) => world.tell({ type: "record-lost", key }, undefined),
    });
    const settling = new StreamSource(world, streams, {
      invoke: (Records, answered) => reconciler.invoke("reconciler", { Records }, answered),
      // By a row's change alone nobody knows from when a definition counts: its own record is still to come.
      processed: () => undefined,
      lost: ({ key }) => world.tell({ type: "record-lost", scheduleId: key.split("@")[0] ?? key }, undefined),
    });
    this.#streams = [schedules, occurrences, settling];
    if (options.expiry) expire(world, options.expiry);
    world.store.scheduleChanges.subscribe((change) =>
      schedules.push({ ...change, record: () => streamRecord({ scheduleId: change.key }, change) }),
    );
    world.store.occurrenceChanges.subscribe((change) => {
      const { key, old, new: row } = change;
      const named = row ?? old;
      if (named === undefined) return;
      const { scheduleId, firing } = named;
      const removed = row === undefined && world.expired.has(key);
      const streamed = { ...change, record: () => streamRecord({ scheduleId, firing }, change, removed) };
      // The filters let no removal through; but they are changed some time after their functions.
      const slips = removed && options.expiry?.unfiltered() === true;
      if (slips || (row && callsForReconcile(row))) settling.push(streamed);
      if (slips || (row && isNews(old, row))) occurrences.push(streamed);
    });
  }

  /** Whether every record of both streams has been processed by all that read them. */
  get quiet(): boolean {
    return this.#streams.every(({ idle }) => idle);
  }

  /** Deploys `settings` and as many dispatchers, one function after the other. */
  redeploy(settings: Settings, dispatchers: number, lagMs: () => number): void {
    this.#world.settings = settings;
    this.#deploy(lagMs);
    this.#world.kernel.after(lagMs(), () => {
      this.#dispatchers = dispatchers;
    });
  }

  /** Deploys the code of `release`, one function after the other. */
  upgrade(release: Release, lagMs: () => number): void {
    this.#release = release;
    this.#deploy(lagMs);
  }

  /** Deploys the code of `release` to the functions of one role: so far a deployment has come. */
  upgradeOnly(role: Role, release: Release): void {
    for (const deployed of this.#functions(role)) deployed.redeploy(release);
  }

  #deploy(lagMs: () => number): void {
    for (const deployed of this.#functions()) this.#world.kernel.after(lagMs(), () => deployed.redeploy(this.#release));
  }

  #functions(only?: Role): readonly { redeploy(release: Release): void }[] {
    const functions: readonly { role: Role; deployed: readonly { redeploy(release: Release): void }[] }[] = [
      { role: "dispatcher", deployed: [this.#dispatcher] },
      { role: "reconciler", deployed: [this.#reconciler] },
      { role: "notifier", deployed: [this.#notifier] },
      { role: "consumer", deployed: [...this.queues, ...this.workers] },
    ];
    return functions.filter(({ role }) => (only ?? role) === role).flatMap(({ deployed }) => deployed);
  }

  /** Switches the consumers off or on: messages wait meanwhile. */
  set stopped(stopped: boolean) {
    for (const source of [...this.queues, ...this.workers]) source.stopped = stopped;
  }

  /** Starts the rules. */
  start(): void {
    this.#minute();
    this.#world.kernel.after(this.#options.sweepEveryMs, () => this.#sweepRule());
  }

  /** Runs a sweep now. */
  sweep(): void {
    this.#reconciler.invoke("sweeper", { sweep: true }, () => undefined, SWEEP_TIMEOUT_MS);
  }

  #minute(): void {
    const of = this.#dispatchers;
    for (let dispatcher = 0; dispatcher < of; dispatcher += 1)
      for (const lateMs of this.#options.ticks()) this.#world.kernel.after(lateMs, () => this.#tick(dispatcher, of));
    this.#world.kernel.after(DISPATCHER.minuteMs, () => this.#minute());
  }

  /**
   * One tick. A dispatcher that would poll an index in which nothing falls due is not started before that changes, nor at all
   * when its time is over by then: its polls would have found nothing. One of a new deployment makes its shards known first.
   */
  #tick(dispatcher: number, of: number): void {
    const { kernel, index } = this.#world;
    const startedAt = kernel.now;
    const until = startedAt + DISPATCHER.minuteMs + DISPATCHER.overlapMs;
    const start = () => {
      if (kernel.now >= until) return;
      // Once started it works no longer than if it had been there since its tick.
      const leftMs = kernel.now === startedAt ? undefined : until + STOP_BEFORE_END_MS - kernel.now;
      this.#dispatcher.invoke(`dispatcher-${dispatcher}`, { dispatcher, of }, () => undefined, leftMs);
    };
    if (this.#dispatcher.hasServed("due")) index.whenDue(START_AHEAD_MS, until, start);
    else start();
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
