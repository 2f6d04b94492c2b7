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
import { exactHosts, Platform } from "../platform/platform.ts";
import type { Role } from "../world/process.ts";
import { World } from "../world/world.ts";
import { settingsOf } from "./settings.ts";

const START = Date.parse("2026-06-10T09:00:00.300Z");
const STEP_MS = 20_000;
/** When the one run falls due, and until when it and its schedule's chain are watched. */
const DUE_AFTER_MS = 40_000;

/** A world with one schedule and one run, in which everything takes a fixed time. */
export interface SmallScenario {
  readonly name: string;
  readonly behaviour: Behaviour;
  readonly queue?: string;
  /** A second schedule's job, whose run comes at the same instant and in the same batch. */
  readonly neighbour?: Behaviour;
  /** What its schedule says beside that, or instead. */
  readonly definition?: Readonly<Record<string, unknown>>;
  /** Whether the schedule is deleted and put again before its instant. */
  readonly bornAgain?: boolean;
  /** Whose exchanges a search for pairs of faults begins with, where the rest goes as in another scenario: everybody's by default. */
  readonly firstFaultsOf?: readonly Role[];
  /** For how long no tick comes at the beginning. */
  readonly silentMs?: number;
  /** How late every change of the table shows in its index. */
  readonly indexLagMs?: number;
  /** Exchanges that get no answer and take no effect, beside the planned faults. */
  readonly isLost?: (point: Point) => boolean;
}

/** A job that renews its lease once, one whose run becomes a dead letter, and one that plain readers of SQS get. */
export const SMALL_SCENARIOS: readonly SmallScenario[] = [
  { name: "a run that succeeds", behaviour: { ms: 10_000 } },
  { name: "a run that is done once it is in its queue", behaviour: { ms: 500 }, queue: "plain", firstFaultsOf: [] },
  {
    name: "a run that fails for good",
    behaviour: { ms: 500, permanent: true },
    firstFaultsOf: ["consumer", "notifier"],
  },
];

/** A job that kills its process twice, beside one that takes longer. */
export const BAD_NEIGHBOUR: SmallScenario = {
  name: "a job that kills its process",
  behaviour: { ms: 2_000, killsUntil: 2 },
  neighbour: { ms: 8_000 },
};

/** A schedule that is deleted and put again: it finds its instants free. */
export const BORN_AGAIN: SmallScenario = { name: "a schedule put again", behaviour: { ms: 500 }, bornAgain: true };

/** Firings that come faster than runs end, and must not overlap. */
export const CROWDED: readonly SmallScenario[] = (["wait", "replace", "skip"] as const).map((overlap) => ({
  name: `runs that ${overlap}`,
  behaviour: { ms: 45_000 },
  definition: { rate: "20 seconds", overlap },
}));

/**
 * A run that waits for another's end, which nobody tells it of: the index still shows it as due when its turn would be, and it is not
 * to be taken before its own look.
 */
export const SEEN_LATE: SmallScenario = {
  name: "a run that waits, in an index that is late",
  behaviour: { ms: 22_000 },
  definition: { rate: "20 seconds", overlap: "wait" },
  indexLagMs: 5_000,
  isLost: ({ role, name }) => role === "consumer" && name === "history",
};

/** Firings that nobody takes for three minutes: one run stands for them all. */
export const MISSED: SmallScenario = {
  name: "firings that were missed",
  behaviour: { ms: 500 },
  definition: { rate: "20 seconds", misfire: { policy: "coalesce", graceSeconds: 0 } },
  silentMs: 180_000,
};

/** A fault at one exchange. */
export interface Planned {
  readonly index: number;
  readonly fault: Fault;
}

/** What a small world came to. */
export interface SmallOutcome {
  /** Every exchange that took place, in order. */
  readonly points: readonly Point[];
  readonly violation: Violation | undefined;
  readonly report: string | undefined;
}

/** Plays `scenario` with the given faults at the given exchanges, until all is quiet, and judges it. */
export async function playSmall(scenario: SmallScenario, planned: readonly Planned[]): Promise<SmallOutcome> {
  const points: Point[] = [];
  const faults = new Map(planned.map(({ index, fault }) => [index, fault]));
  const plan: FaultPlan = {
    ...NO_FAULTS,
    indexLagMs: () => scenario.indexLagMs ?? 0,
    exchange: (point) => {
      points.push(point);
      return faults.get(point.index) ?? (scenario.isLost?.(point) ? { kind: "request-lost" } : undefined);
    },
  };
  const world = new World({
    seed: 1,
    start: START,
    settings: settingsOf(1),
    pace: "sparse",
    plan: () => plan,
    queues: { default: { maxReceiveCount: 20 }, plain: {} },
    latencyMs: () => 5,
  });
  for (const invariant of INVARIANTS) world.watch(invariant(world));
  const platform = new Platform(world, {
    dispatchers: 1,
    ticks: () => (world.kernel.now < START + (scenario.silentMs ?? 0) ? [] : [0]),
    hosts: exactHosts,
    queues: [
      {
        queue: "default",
        timeoutMs: 300_000,
        visibilityMs: 330_000,
        concurrency: 10,
        batchSize: 10,
        maxConcurrency: 2,
        pollMs: () => 50,
        mishaps: () => "none",
      },
    ],
    streams: { batchSize: 10, lagMs: () => 400, retryMs: 2_000, triesMax: 50, repeats: () => false },
    sweepEveryMs: HEALED_WITHIN_MS * 10,
  });
  world.store.putItem({ ...definitionOf("small", scenario.behaviour, scenario.queue), ...scenario.definition });
  if (scenario.neighbour) world.store.putItem(definitionOf("neighbour", scenario.neighbour));
  if (scenario.bornAgain) deleteAndPutAgain(world, scenario);
  platform.start();
  world.dueBefore = instant(START + DUE_AFTER_MS + SETTLED_MS + STEP_MS);
  const broken = () => world.violation !== undefined;
  await world.kernel.run(START + 3 * DUE_AFTER_MS, broken);
  while (!broken() && !world.isQuiet(platform) && world.kernel.now < START + HEALED_WITHIN_MS)
    await world.kernel.run(world.kernel.now + STEP_MS, broken);
  if (!broken()) world.judge("afterHealing");
  if (!broken()) world.judge("atEnd");
  return { points, violation: world.violation, report: world.violation && report(world, 1, world.violation) };
}

function deleteAndPutAgain(world: World, { behaviour }: SmallScenario): void {
  world.kernel.at(START + DUE_AFTER_MS / 2, () => void world.store.schedules.remove("small"));
  world.kernel.at(START + (DUE_AFTER_MS * 3) / 4, () => world.store.putItem(definitionOf("small", behaviour)));
}

/** Fires hourly, and once in the time that is watched. */
const definitionOf = (scheduleId: string, behaviour: Behaviour, queue = "default"): ScheduleItem => ({
  scheduleId,
  rate: "60 minutes",
  startAt: new Date(START - 300 + DUE_AFTER_MS).toISOString(),
  job: JOB,
  queue,
  payload: behaviour,
  retry: { maxAttempts: 4, baseDelaySeconds: 1, jitter: false },
  effects: "fenced",
});
