import type { ScheduleItem } from "../../../lib/app/ports.ts";
import { DEFAULT_MISFIRE } from "../../../lib/core/schedule.ts";
import { HALF_PAST_TWO } from "../oracle/firings.ts";
import { type Behaviour, JOB } from "../platform/jobs.ts";
import type { Prng } from "../world/prng.ts";
import type { World } from "../world/world.ts";

/** Timings whose firings the oracle can tell by arithmetic of its own. */
const TIMINGS: readonly ((prng: Prng, now: number) => Record<string, unknown>)[] = [
  (prng) => ({ rate: `${prng.pick([1, 2, 3, 5, 7, 10, 20])} minutes` }),
  (prng) => ({ rate: `${prng.pick([45, 90, 100])} seconds` }),
  (prng) => ({ cron: `*/${prng.pick([2, 5, 10, 15])} * * * *` }),
  (prng) => ({ cron: `*/${prng.pick([5, 10, 20])} * * * *`, timezone: "Europe/Berlin" }),
  (prng) => ({ cron: `${prng.pick([0, 7, 30, 59])} * * * *`, timezone: "America/New_York" }),
  (prng) => ({ cron: HALF_PAST_TWO, timezone: prng.pick(["Europe/Berlin", "America/New_York"]) }),
  (prng, now) => ({ at: new Date(Math.ceil(now / 1000) * 1000 + prng.whole(1, 30) * 60_000).toISOString() }),
];

/** Timings of schedules that fire once in an hour or so. */
const SPARSE_TIMINGS: typeof TIMINGS = [
  (prng) => ({ rate: `${prng.pick([30, 60, 90, 180])} minutes` }),
  (prng) => ({ rate: `${prng.pick([47, 113])} minutes` }),
  (prng) => ({ cron: `${prng.pick([0, 7, 30, 59])} * * * *`, timezone: prng.pick(["UTC", "Europe/Berlin"]) }),
  (prng) => ({ cron: HALF_PAST_TWO, timezone: prng.pick(["Europe/Berlin", "America/New_York"]) }),
  (prng, now) => ({ at: new Date(Math.ceil(now / 1000) * 1000 + prng.whole(1, 300) * 60_000).toISOString() }),
];

function behaviourOf(prng: Prng): Behaviour {
  const base = { ms: prng.pick([50, 400, 2_000, 12_000, 45_000]), careful: prng.chance(0.3) };
  const sort = prng.next();
  if (sort < 0.55) return base;
  if (sort < 0.75)
    return {
      ...base,
      failsUntil: prng.whole(1, 4),
      ...(prng.chance(0.3) && { retryAfterSeconds: prng.pick([3, 40]) }),
    };
  if (sort < 0.83) return { ...base, permanent: true };
  if (sort < 0.92) return { ...base, killsUntil: prng.whole(1, 3) };
  return { ...base, ms: 90_000, deaf: true };
}

/** How much goes on in a world: something every minute, or something every hour. */
export type Pace = "dense" | "sparse";

/** Whether the default catch-up window is longer than such a history. */
export const isShort = (historySeconds: number): boolean => historySeconds < DEFAULT_MISFIRE.catchupWindowSeconds;

/** The part of a definition that a short history asks for: as long a window as it allows. */
export const windowWithin = (historySeconds: number): { readonly catchupWindowSeconds?: number } =>
  isShort(historySeconds) ? { catchupWindowSeconds: historySeconds } : {};

/** A schedule at random for `world`, whose timing the oracle understands. */
export function randomDefinition({ kernel, pace, settings }: World, prng: Prng, scheduleId: string): ScheduleItem {
  const item = drawn(prng, scheduleId, kernel.now, pace);
  if (!isShort(settings.historySeconds)) return item;
  const misfire = typeof item["misfire"] === "object" ? item["misfire"] : {};
  return { ...item, misfire: { ...misfire, ...windowWithin(settings.historySeconds) } };
}

function drawn(prng: Prng, scheduleId: string, now: number, pace: Pace): ScheduleItem {
  return {
    scheduleId,
    ...prng.pick(pace === "dense" ? TIMINGS : SPARSE_TIMINGS)(prng, now),
    job: JOB,
    queue: prng.chance(0.2) ? "plain" : prng.chance(0.05) ? "gone" : "default",
    payload: behaviourOf(prng),
    retry: {
      maxAttempts: prng.whole(1, 5),
      baseDelaySeconds: prng.pick([0, 1, 5]),
      multiplier: 2,
      maxDelaySeconds: prng.pick([8, 30]),
      jitter: prng.chance(0.5),
    },
    ...(prng.chance(0.4) && {
      misfire: {
        policy: prng.pick(["coalesce", "all", "skip"]),
        ...(prng.chance(0.5) && { graceSeconds: prng.pick([0, 20]) }),
      },
    }),
    ...(prng.chance(0.3) && { overlap: prng.pick(["skip", "wait", "replace"]) }),
    ...(prng.chance(0.2) && { startDeadlineSeconds: prng.pick([60, 600]) }),
    timeoutSeconds: prng.pick([20, 60]),
    effects: "fenced",
  };
}
