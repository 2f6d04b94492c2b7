import type { ScheduleItem } from "../../../lib/app/ports.ts";
import { instant } from "../../../lib/core/instant.ts";
import { type Fault, type FaultPlan, NO_FAULTS, type Point } from "../faults/plan.ts";
import { HEALED_WITHIN_MS } from "../invariants/endings.ts";
import { INVARIANTS } from "../invariants/index.ts";
import type { Violation } from "../invariants/invariant.ts";
import { SETTLED_MS } from "../invariants/schedules.ts";
import { report } from "../invariants/timeline.ts";
import type { Behaviour } from "../platform/jobs.ts";
import { JOB } from "../platform/jobs.ts";
import { exactHosts, Platform, type PlatformOptions } from "../platform/platform.ts";
import type { Release } from "../platform/release.ts";
import type { WorkerSourceOptions } from "../platform/worker-source.ts";
import type { Role } from "../world/process.ts";
import { World } from "../world/world.ts";
import { windowWithin } from "./definitions.ts";
import { settingsOf } from "./settings.ts";
import { withTimeline } from "./with-timeline.ts";

const START = Date.parse("2026-06-10T09:00:00.300Z");
/** How often it is asked whether all is quiet: in no step with any schedule, each of whose firings is news for a moment. */
const STEP_MS = 7_000;
/** When the one run falls due. */
const DUE_AFTER_MS = 40_000;
/** The usual period of schedules that fire more than once: the second firing is judged too. */
const PERIOD_MS = 20_000;
/** The instant of the one run. */
export const DUE_AT = START - 300 + DUE_AFTER_MS;

/** A world with one schedule and one run, in which everything takes a fixed time. */
export interface SmallScenario {
  readonly name: string;
  readonly behaviour: Behaviour;
  readonly queue?: string;
  /** What workers serve the queue, instead of the consumer function; one by default, and what it does by default. */
  readonly workers?: { readonly count?: number } & Partial<WorkerSourceOptions["settings"]>;
  /** How many messages can be in flight: as many as SQS lets, by default. */
  readonly inFlightMax?: number;
  /** A second schedule's job, whose run comes at the same instant and in the same batch. */
  readonly neighbour?: Behaviour;
  /** What its schedule says beside that, or instead. */
  readonly definition?: Readonly<Record<string, unknown>>;
  /** 1 each by default. */
  readonly shards?: number;
  readonly dispatchers?: number;
  /** What people, or the platform, do in it. */
  readonly happens?: (world: World, platform: Platform) => void;
  /** Whose exchanges a search for pairs of faults begins with, where the rest goes as in another scenario: everybody's by default. */
  readonly firstFaultsOf?: readonly Role[];
  /** By what names both exchanges of such a pair go, where all others go as in another scenario: by any, by default. */
  readonly pairsAt?: readonly string[];
  /** How long finished rows are kept, where the TTL is to remove them, which it does at once; and for how long the world is watched. */
  readonly historySeconds?: number;
  readonly lastsMs?: number;
  /** For how long no tick comes at the beginning. */
  readonly silentMs?: number;
  /** How late every change of the table shows in its index. */
  readonly indexLagMs?: number;
  /** What `Date` headers say: the truth by default. */
  readonly dates?: FaultPlan["date"];
  /** What befalls exchanges beside the planned faults; made anew for each play. */
  readonly troubles?: () => (point: Point) => Fault | undefined;
}

/**
 * A job that renews its lease once, one whose run becomes a dead letter, one that plain readers of SQS get, and two that a worker
 * has in hand, the second of which waits and is hidden anew meanwhile. What a worker writes into rows the function does, too.
 */
export const SMALL_SCENARIOS: readonly SmallScenario[] = [
  { name: "a run that succeeds", behaviour: { ms: 10_000 } },
  { name: "a run that is done once it is in its queue", behaviour: { ms: 500 }, queue: "plain", firstFaultsOf: [] },
  {
    name: "a run that fails for good",
    behaviour: { ms: 500, permanent: true },
    firstFaultsOf: ["consumer", "notifier"],
  },
  {
    name: "two runs in a worker, one behind the other, and an idle worker",
    behaviour: { ms: 4_000 },
    neighbour: { ms: 4_000 },
    workers: { count: 2, concurrency: 1, prefetch: 1, visibilityTimeoutSeconds: 12 },
    pairsAt: ["receive", "hide", "acknowledge"],
  },
];

/** A fault at one exchange. */
export interface Planned {
  readonly index: number;
  readonly fault: Fault;
}

/** An exchange of a small world. */
export interface SmallPoint extends Point {
  /** Whether nothing was under way any more: the run has ended, and every record of it was read. */
  readonly quiet: boolean;
  /** Whether it was a receive that brought nothing. */
  readonly idle: boolean;
}

/** What a small world came to. */
export interface SmallOutcome {
  /** Every exchange that took place, in order. */
  readonly points: readonly SmallPoint[];
  readonly violation: Violation | undefined;
  readonly report: string | undefined;
  readonly hash: string;
}

/** Plays `scenario` with the given faults at the given exchanges, until all is quiet, and judges it. */
export const playSmall = (
  scenario: SmallScenario,
  planned: readonly Planned[],
  other?: Release,
): Promise<SmallOutcome> =>
  withTimeline(`"${scenario.name}"`, (recorded) => playOnce(scenario, planned, other, recorded));

async function playOnce(
  scenario: SmallScenario,
  planned: readonly Planned[],
  other: Release | undefined,
  recorded: boolean,
): Promise<SmallOutcome> {
  const points: Omit<SmallPoint, "idle">[] = [];
  const brought = new Set<number>();
  const receives = new Map<string, number>();
  const faults = new Map(planned.map(({ index, fault }) => [index, fault]));
  const troubles = scenario.troubles?.();
  const plan: FaultPlan = {
    ...NO_FAULTS,
    ...(scenario.dates && { date: scenario.dates }),
    indexLagMs: () => scenario.indexLagMs ?? 0,
    exchange: (point) => {
      const quiet = point.at > START + DUE_AFTER_MS && isQuiet();
      points.push({ ...point, quiet });
      if (point.name === "receive") receives.set(point.process, point.index);
      return faults.get(point.index) ?? troubles?.(point);
    },
  };
  const world = new World({
    seed: 1,
    start: START,
    settings: settingsOf(scenario.shards ?? 1, scenario.historySeconds),
    pace: "sparse",
    plan: () => plan,
    other,
    queues: {
      default: { maxReceiveCount: 20, ...(scenario.inFlightMax && { inFlightMax: scenario.inFlightMax }) },
      plain: {},
    },
    latencyMs: () => 5,
    recorded,
  });
  for (const invariant of INVARIANTS) world.watch(invariant(world));
  world.listen((fact) => {
    if (fact.type === "delivered") brought.add(receives.get(fact.by?.name ?? "") ?? -1);
  });
  const platform = new Platform(world, {
    dispatchers: scenario.dispatchers ?? 1,
    ticks: () => (world.kernel.now < START + (scenario.silentMs ?? 0) ? [] : [0]),
    hosts: exactHosts,
    ...consumersOf(scenario),
    streams: { batchSize: 10, lagMs: () => 400, retryMs: 2_000, triesMax: 50, repeats: () => false },
    ...(scenario.historySeconds !== undefined && { expiry: { delayMs: () => 0, unfiltered: () => true } }),
    sweepEveryMs: HEALED_WITHIN_MS * 10,
  });
  world.store.putItem(itemOf(scenario));
  if (scenario.neighbour) world.store.putItem(definitionOf("neighbour", scenario.neighbour));
  scenario.happens?.(world, platform);
  platform.start();
  // A message that workers have not given away is in somebody's hands, or comes again.
  const isQuiet = () => world.isQuiet(platform) && (!scenario.workers || world.queue.peek("default").length === 0);
  const { lastsMs = 3 * DUE_AFTER_MS } = scenario;
  world.dueBefore = instant(START + Math.max(lastsMs, DUE_AFTER_MS + PERIOD_MS + SETTLED_MS));
  const broken = () => world.violation !== undefined;
  await world.kernel.run(START + lastsMs, broken);
  while (!broken() && !isQuiet() && world.kernel.now < START + lastsMs + HEALED_WITHIN_MS)
    await world.kernel.run(world.kernel.now + STEP_MS, broken);
  if (!broken()) world.judge("afterHealing");
  if (!broken()) world.judge("atEnd");
  const known = points.map((point) => ({ ...point, idle: point.name === "receive" && !brought.has(point.index) }));
  const { violation } = world;
  return { points: known, violation, report: violation && report(world, 1, violation), hash: world.hash.value };
}

/** The consumer function's event source, or the workers in its place. */
function consumersOf({ workers }: SmallScenario): Pick<PlatformOptions, "queues" | "workers"> {
  if (workers) {
    const { count = 1, ...settings } = workers;
    const served = { queue: "default", settings: { ...WORKER_DEFAULTS, ...settings } };
    return { queues: [], workers: [{ ...served, workers: count, restartMs: () => 5_000 }] };
  }
  const consumer = { timeoutMs: 300_000, visibilityMs: 330_000, concurrency: 10, batchSize: 10, maxConcurrency: 2 };
  return { queues: [{ ...consumer, queue: "default", pollMs: () => 50, mishaps: () => "none" }], workers: [] };
}

/** As in docs/workers.md, "Options". */
const WORKER_DEFAULTS = {
  concurrency: 10,
  prefetch: 0,
  visibilityTimeoutSeconds: 60,
  waitSeconds: 20,
  graceSeconds: 20,
} as const;

/** The item of a scenario's schedule. */
export const itemOf = ({
  behaviour,
  queue,
  definition,
  historySeconds,
}: Pick<SmallScenario, "behaviour" | "queue" | "definition" | "historySeconds">) => ({
  ...definitionOf("small", behaviour, queue),
  ...(historySeconds !== undefined && { misfire: windowWithin(historySeconds) }),
  ...definition,
});

/** Fires hourly, and once in the time that is watched. */
const definitionOf = (scheduleId: string, behaviour: Behaviour, queue = "default"): ScheduleItem => ({
  scheduleId,
  rate: "60 minutes",
  startAt: new Date(DUE_AT).toISOString(),
  job: JOB,
  queue,
  payload: behaviour,
  retry: { maxAttempts: 4, baseDelaySeconds: 1, jitter: false },
  effects: "fenced",
});
