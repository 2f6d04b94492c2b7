import type { QueueSourceOptions } from "../platform/queue-source.ts";
import type { WorkerSourceOptions } from "../platform/worker-source.ts";
import { Prng } from "../world/prng.ts";
import type { Pace } from "./definitions.ts";

/** Who serves the queue of a random world, and how many of its messages can be in flight. */
export interface Consumers {
  readonly served: "by the function" | "by workers" | "by both";
  readonly workers: Omit<WorkerSourceOptions, "hosts">;
  /** The mean time between two rolling restarts, in a dense world; 0: none. */
  readonly restartEveryMs: number;
  /** `undefined`: as many as SQS lets. */
  readonly inFlightMax: number | undefined;
  /** What people and platforms do to them, drawn anew each time. */
  readonly prng: Prng;
}

/** Sets the seed of these draws apart from that of the rest. */
const OWN_CHANCE = 0x5eed;

/** Draws it by chance of its own, so that the rest of the world is as it would be with others. */
export function consumersOf(seed: number, pace: Pace): Consumers {
  const prng = new Prng(seed ^ OWN_CHANCE);
  const dense = pace === "dense";
  const restarts = prng.fork();
  return {
    served: prng.pick(["by the function", "by the function", "by workers", "by both"]),
    workers: {
      queue: "default",
      workers: prng.whole(1, dense ? 3 : 2),
      settings: {
        // One that runs a job at a time would not keep up where one comes every minute.
        concurrency: dense ? prng.pick([5, 10]) : prng.pick([1, 2, 10]),
        prefetch: prng.pick([0, 0, 2, 10]),
        visibilityTimeoutSeconds: prng.pick(dense ? [20, 60, 120] : [60, 180, 600]),
        waitSeconds: 20,
        graceSeconds: prng.pick([0, 5, 20, 60]),
      },
      restartMs: () => restarts.whole(1_000, 15_000),
    },
    restartEveryMs: prng.pick([0, 120_000, 400_000]),
    // Where one comes every minute, jobs that kill their function would keep so few in flight for good.
    inFlightMax: !dense && prng.chance(0.3) ? prng.whole(2, 4) : undefined,
    prng,
  };
}

/** What serves the default queue, where `source` is the consumer function's event source. */
export const servedBy = <Source extends Omit<QueueSourceOptions, "hosts">>(
  { served, workers }: Consumers,
  source: Source,
) => ({
  queues: served === "by workers" ? [] : [source],
  workers: served === "by the function" ? [] : [workers],
});
