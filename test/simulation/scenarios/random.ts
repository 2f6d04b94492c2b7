import { strike } from "../faults/accidents.ts";
import { NO_FAULTS } from "../faults/plan.ts";
import { HOST_OFF_MS, swarm } from "../faults/swarm.ts";
import { HEALED_WITHIN_MS } from "../invariants/endings.ts";
import { INVARIANTS } from "../invariants/index.ts";
import type { Violation } from "../invariants/invariant.ts";
import { report } from "../invariants/timeline.ts";
import { Platform, type PlatformOptions } from "../platform/platform.ts";
import { type Release, THIS_RELEASE } from "../platform/release.ts";
import { EXACT, type HostClocks } from "../world/host.ts";
import { Prng } from "../world/prng.ts";
import { World } from "../world/world.ts";
import { type Consumers, consumersOf, servedBy } from "./consumers.ts";
import { randomDefinition } from "./definitions.ts";
import { meddle } from "./operators.ts";
import { settingsOf } from "./settings.ts";
import { withTimeline } from "./with-timeline.ts";

const MINUTE_MS = 60_000;
/** The days on which worlds begin: an ordinary one, and those on which Berlin's and New York's clocks change. */
const STARTS = ["2026-06-10T08:59:30Z", "2026-03-29T00:20:00Z", "2026-10-25T00:20:00Z", "2026-03-08T06:30:00Z"];
/** How long after the faults everything must have come right without a sweep. */
const HEALING_MS = 6 * MINUTE_MS;

/** How long a deployment stands at least before the next one. */
const DEPLOYED_MS = 4 * MINUTE_MS;

/** The share of troubled worlds in which another release is deployed. */
const UPGRADED_SHARE = 0.4;

/** The share of worlds in which rows expire, and how long history is kept there: longer than any invocation lasts. */
const EXPIRING_SHARE = 0.25;
const HISTORIES_SECONDS = [900, 1_800, 3_600];
/** Chance of its own: whether rows expire changes nothing else that is drawn. */
const HISTORY_SALT = 0x77_1e_5e_ed;

/** What one world came to. */
export interface Outcome {
  readonly seed: number;
  readonly violation: Violation | undefined;
  /** The violation with its timeline, for people. */
  readonly report: string | undefined;
  readonly hash: string;
  readonly simulatedMs: number;
  readonly io: number;
  readonly events: number;
  readonly faults: ReadonlyMap<string, number>;
}

/** A sparse world lasts so many times longer than a dense one, and its people and accidents are as much rarer; */
const SPARSE_FACTOR = 20;
/** but no longer than this: the oracle knows each daily firing of one day only. */
const WORLD_MAX_MS = 16 * 60 * MINUTE_MS;

/**
 * Runs the world of `seed`: `minutes` of misfortune (a sparse world, of which every second one is, has as much in
 * {@link SPARSE_FACTOR} times the time), then healing, then the judgement.
 */
export const runSeed = (seed: number, minutes: number, other?: Release): Promise<Outcome> =>
  withTimeline(`seed ${seed}`, (recorded) => playSeed(seed, minutes, other, recorded));

async function playSeed(
  seed: number,
  minutes: number,
  other: Release | undefined,
  recorded: boolean,
): Promise<Outcome> {
  const prng = new Prng(seed);
  const start = Date.parse(prng.pick(STARTS)) + prng.whole(0, 59_999);
  const pace = prng.pick(["dense", "sparse"] as const);
  const factor = pace === "dense" ? 1 : SPARSE_FACTOR;
  const faultsEnd = start + Math.min(minutes * MINUTE_MS * factor, WORLD_MAX_MS);
  const calm = prng.chance(0.1);
  const slow = prng.pick([3, 20, 150]);
  const history = historyOf(new Prng(seed ^ HISTORY_SALT));
  const consumers = consumersOf(seed, pace);
  const world = new World({
    seed: prng.whole(0, 2 ** 31),
    start,
    settings: settingsOf(prng.whole(1, 3), history.seconds),
    pace,
    plan: (own) => (calm ? NO_FAULTS : swarm(own, faultsEnd)),
    other,
    queues: {
      default: { maxReceiveCount: 20, ...(consumers.inFlightMax && { inFlightMax: consumers.inFlightMax }) },
      plain: {},
    },
    latencyMs: (own) => own.whole(1, slow),
    recorded,
  });
  for (const invariant of INVARIANTS) world.watch(invariant(world));
  const options = platformOf(prng.fork(), world, consumers, calm ? start : faultsEnd);
  const platform = new Platform(world, { ...options, expiry: history.expiry });
  platform.start();
  populate(world, prng.fork());
  if (!calm) {
    disturb(world, platform, prng.fork(), faultsEnd);
    restart(world, platform, consumers, faultsEnd);
  }

  await play(world, platform, faultsEnd);
  return {
    seed,
    violation: world.violation,
    report: world.violation && report(world, seed, world.violation),
    hash: world.hash.value,
    simulatedMs: world.kernel.now - start,
    io: world.tally.io,
    events: world.kernel.handled,
    faults: world.tally.faults,
  };
}

/** In some worlds history is short, and the TTL removes what is over: at once, or at any time later. */
function historyOf(prng: Prng): { readonly seconds?: number; readonly expiry?: PlatformOptions["expiry"] } {
  if (!prng.chance(EXPIRING_SHARE)) return {};
  const latestMs = prng.pick([0, 10 * MINUTE_MS, 60 * MINUTE_MS]);
  const slipping = prng.pick([0, 0.2]);
  const expiry = { delayMs: () => prng.whole(0, latestMs), unfiltered: () => prng.chance(slipping) };
  return { seconds: prng.pick(HISTORIES_SECONDS), expiry };
}

function populate(world: World, prng: Prng): void {
  for (let number = 0; number < prng.whole(1, 6); number += 1)
    world.kernel.after(prng.whole(0, 120_000), () => {
      const item = randomDefinition(world, prng, `s${number}`);
      // An attribute that only the other release knows.
      world.store.putItem({ ...item, ...(world.other && { lane: "fast" }) });
    });
}

/** All that goes on beside the faults at exchanges: people, accidents, deployments, a consumer that is switched off. */
function disturb(world: World, platform: Platform, prng: Prng, until: number): void {
  const people = prng.fork();
  const factor = world.pace === "dense" ? 1 : SPARSE_FACTOR;
  const meddleEveryMs = factor * prng.pick([0, 8_000, 30_000, 120_000]);
  const again = () => {
    if (world.kernel.now >= until) return;
    meddle(world, people);
    world.kernel.after(people.whole(1, 2 * meddleEveryMs), again);
  };
  if (meddleEveryMs > 0) world.kernel.after(meddleEveryMs, again);
  const kinds = (["killed", "paused", "cut-off"] as const).filter(() => prng.chance(0.3));
  strike(world, prng.fork(), { everyMs: factor * prng.pick([20_000, 60_000, 200_000]), kinds }, until);
  const redeployments = prng.fork();
  if (redeployments.chance(0.3))
    world.kernel.at(Math.max(until - redeployments.whole(1, 10) * MINUTE_MS, world.kernel.now + DEPLOYED_MS), () => {
      const lagMs = () => redeployments.whole(0, 40_000);
      const { historySeconds } = world.settings;
      platform.redeploy(settingsOf(redeployments.whole(1, 3), historySeconds), redeployments.whole(1, 2), lagMs);
    });
  if (prng.chance(0.1)) {
    platform.stopped = true;
    world.kernel.at(until - prng.whole(0, 5) * MINUTE_MS, () => {
      platform.stopped = false;
    });
  }
  if (world.other) upgrade(world, platform, world.other, prng.fork(), until);
}

/** In some worlds another release is deployed, one function after the other, and in some of these rolled back. */
function upgrade({ kernel }: World, platform: Platform, other: Release, prng: Prng, until: number): void {
  if (!prng.chance(UPGRADED_SHARE)) return;
  const longMs = prng.pick([1_000, 40_000, 300_000]);
  const lagMs = () => prng.whole(0, longMs);
  const at = prng.whole(kernel.now, until);
  kernel.at(at, () => platform.upgrade(other, lagMs));
  // The hourly one may come in the middle of it.
  kernel.at(at + lagMs(), () => platform.sweep());
  // Also before all of it is deployed.
  if (prng.chance(0.5)) kernel.at(prng.whole(at, until), () => platform.upgrade(THIS_RELEASE, lagMs));
}

/** Rolling restarts of the workers. */
function restart(world: World, platform: Platform, { restartEveryMs, prng }: Consumers, until: number): void {
  const everyMs = restartEveryMs * (world.pace === "dense" ? 1 : SPARSE_FACTOR);
  const again = () => {
    if (world.kernel.now >= until) return;
    for (const workers of platform.workers) workers.shutdown();
    world.kernel.after(prng.whole(1, 2 * everyMs), again);
  };
  if (everyMs > 0 && platform.workers.length > 0) world.kernel.after(prng.whole(1, 2 * everyMs), again);
}

async function play(world: World, platform: Platform, faultsEnd: number): Promise<void> {
  const broken = () => world.violation !== undefined;
  await world.kernel.run(faultsEnd, broken);
  if (broken()) return;
  await world.kernel.run(faultsEnd + HEALING_MS, broken);
  if (broken()) return;
  world.judge("afterHealing");
  platform.sweep();
  world.dueBefore = world.kernel.now;
  const giveUpAt = world.kernel.now + HEALED_WITHIN_MS;
  while (!broken() && !world.isQuiet(platform) && world.kernel.now < giveUpAt)
    await world.kernel.run(world.kernel.now + MINUTE_MS, broken);
  if (!broken()) world.judge("atEnd");
}

function platformOf(prng: Prng, world: World, consumers: Consumers, faultsEnd: number): PlatformOptions {
  const trouble = () => world.kernel.now < faultsEnd;
  const tick = { late: prng.pick([0, 0.2]), twice: prng.pick([0, 0.4]), missing: prng.pick([0, 0.1]) };
  const pollMs = prng.pick([300, 900, 15_000]);
  const consumer = {
    timeoutMs: 300_000,
    visibilityMs: 330_000,
    concurrency: 10,
    pollMs: () => prng.whole(1, pollMs),
  };
  const mishap = { twice: prng.pick([0, 0.05]), unacknowledged: prng.pick([0, 0.05]) };
  const batchSize = prng.whole(1, 10);
  const repeats = prng.pick([0, 0.1]);
  const lagMs = prng.pick([200, 2_000, 20_000]);
  const clocks = clocksOf(prng.fork(), trouble());
  world.clocksAreWrong = clocks.some(({ step }) => step !== undefined);
  return {
    dispatchers: prng.whole(1, 2),
    ticks: () => {
      if (trouble() && prng.chance(tick.missing)) return [];
      const lateMs = prng.whole(0, 2_000) + (trouble() && prng.chance(tick.late) ? prng.whole(0, 30_000) : 0);
      return trouble() && prng.chance(tick.twice) ? [lateMs, lateMs + prng.whole(0, 5_000)] : [lateMs];
    },
    hosts: () => prng.pick(clocks),
    ...servedBy(consumers, {
      ...consumer,
      queue: "default",
      batchSize,
      maxConcurrency: prng.pick([2, 10]),
      mishaps: () => {
        if (!trouble()) return "none";
        if (prng.chance(mishap.twice)) return "delivered-twice";
        return prng.chance(mishap.unacknowledged) ? "acknowledgement-lost" : "none";
      },
    }),
    streams: {
      batchSize: prng.pick([1, 5, 10]),
      lagMs: () => prng.whole(50, lagMs),
      retryMs: 2_000,
      triesMax: 50,
      repeats: () => trouble() && prng.chance(repeats),
    },
    sweepEveryMs: 60 * MINUTE_MS,
  };
}

/** The clocks that hosts of a deployment have: mostly right, in some worlds 20 s off, stepping, drifting or stopped by a freeze. */
function clocksOf(prng: Prng, wrong: boolean): readonly HostClocks[] {
  if (!wrong || prng.chance(0.5)) return [EXACT];
  const steps = prng.chance(0.3);
  const drifts = prng.chance(0.3);
  const stops = prng.chance(0.3);
  return [0, HOST_OFF_MS, -HOST_OFF_MS].map((skewMs) => ({
    skewMs,
    rate: drifts ? 1 + (prng.next() - 0.5) * 6e-4 : 1,
    countsFrozen: !stops,
    ...(steps && { step: { afterMs: prng.whole(1, 60_000), byMs: prng.pick([-HOST_OFF_MS, HOST_OFF_MS]) } }),
  }));
}
