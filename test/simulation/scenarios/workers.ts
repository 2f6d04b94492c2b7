import type { Fault, Point } from "../faults/plan.ts";
import { DUE_AT, type SmallScenario } from "./small.ts";

/** A suspect and a run that takes longer, in one worker: a crash has taken both along, and takes the neighbour no second time. */
const SUSPECT: SmallScenario = {
  name: "a worker with a job that kills its process",
  behaviour: { ms: 2_000, killsUntil: 2 },
  neighbour: { ms: 8_000 },
  workers: {},
};

/** The second run waits in the worker's hands until the first one's job ends, for longer than its message's visibility. */
const WAITS_BEHIND: SmallScenario = {
  name: "a worker whose next message waits behind a slow job",
  behaviour: { ms: 45_000 },
  neighbour: { ms: 45_000 },
  workers: { concurrency: 1, prefetch: 2, visibilityTimeoutSeconds: 10 },
};

/** What waits becomes visible now and then, and comes to the same worker again. */
const HARDLY_HIDDEN: SmallScenario = {
  ...WAITS_BEHIND,
  name: "a worker whose next message waits behind a slow job, and is seldom hidden",
  troubles: () => {
    let times = 0;
    return ({ name }) => (name === "hide" && times++ % 7 < 6 ? { kind: "throttled" } : undefined);
  },
};

/** It can hide nothing: what waits becomes visible, goes to the other worker, and is begun once. */
const NOT_HIDDEN: SmallScenario = {
  ...WAITS_BEHIND,
  name: "workers that can hide nothing",
  workers: { ...WAITS_BEHIND.workers, count: 2 },
  troubles:
    () =>
    ({ name }) =>
      name === "hide" ? { kind: "request-lost" } : undefined,
};

/** Shuts the workers down so many milliseconds after the instant. */
const shutdownAt =
  (...afterMs: readonly number[]): NonNullable<SmallScenario["happens"]> =>
  ({ kernel }, platform) => {
    for (const ms of afterMs)
      kernel.at(DUE_AT + ms, () => {
        for (const workers of platform.workers) workers.shutdown();
      });
  };

const SHUTDOWN: SmallScenario = {
  name: "a worker that is shut down: one job ends within the grace, one that waits is handed back",
  behaviour: { ms: 12_000 },
  neighbour: { ms: 12_000 },
  workers: { concurrency: 1, prefetch: 2 },
  happens: shutdownAt(5_000),
};

const SHUTDOWN_ABORTS: SmallScenario = {
  name: "a worker that is shut down: one job does not end within the grace, one pays no heed",
  behaviour: { ms: 45_000 },
  neighbour: { ms: 45_000, deaf: true },
  workers: { graceSeconds: 5 },
  happens: shutdownAt(5_000),
};

/** By when the run's message has become visible again and its next worker stands, each exchange taking 10 ms. */
const SHUTDOWN_EARLY: SmallScenario = {
  name: "workers that are shut down as they receive, as they ask for the time, and as they start",
  behaviour: { ms: 500 },
  workers: { graceSeconds: 0 },
  happens: shutdownAt(54, 60_070, 65_110),
};

/** `fate` for the first exchange of a worker by that name at which nothing has befallen one yet. */
const once = (name: string, fate: Fault) => (): ((point: Point) => Fault | undefined) => {
  let over = false;
  return (point) => {
    if (over || point.role !== "consumer" || point.name !== name || point.at < DUE_AT) return undefined;
    over = true;
    return fate;
  };
};

/** Longer than the run's lease, the message's visibility, and the job. */
const FROZEN = { kind: "paused-after", ms: 100_000 } as const;

const FROZEN_AT_START: SmallScenario = {
  name: "a worker frozen beyond lease and visibility, its start under way",
  behaviour: { ms: 30_000 },
  neighbour: { ms: 2_000 },
  workers: { count: 2, concurrency: 1, prefetch: 1 },
  troubles: once("write", FROZEN),
};

/** It thaws while the other one runs the first of them, and the second waits there. */
const FROZEN_WITH_MESSAGES: SmallScenario = {
  name: "a worker frozen beyond visibility with messages under way",
  behaviour: { ms: 10_000 },
  neighbour: { ms: 10_000 },
  workers: { count: 2, concurrency: 1, prefetch: 2 },
  troubles: once("receive", { kind: "paused-after", ms: 65_000 }),
};

const NOT_STARTED: SmallScenario = {
  name: "a worker whose starts are not taken for a while",
  behaviour: { ms: 500 },
  workers: {},
  troubles:
    () =>
    ({ role, name, at }) =>
      role === "consumer" && name === "write" && at < DUE_AT + 20_000 ? { kind: "throttled" } : undefined,
};

const LOST_RECEIVE: SmallScenario = {
  name: "a receive whose answer is lost: its messages come again",
  behaviour: { ms: 500 },
  neighbour: { ms: 500 },
  workers: {},
  troubles: once("receive", { kind: "answer-lost" }),
};

/** Jobs that ignore their signals hold every place: the worker ends, and another one takes over. */
const STUCK: SmallScenario = {
  name: "a worker whose places are all held by jobs that pay no heed",
  behaviour: { ms: 90_000, deaf: true },
  neighbour: { ms: 90_000, deaf: true },
  definition: { timeoutSeconds: 10, retry: { maxAttempts: 2, baseDelaySeconds: 1 } },
  workers: { concurrency: 2 },
};

/** Runs that come every few seconds where one message can be in flight. */
const FEW_IN_FLIGHT: readonly SmallScenario[] = ([undefined, { count: 2 }] as const).map((workers) => ({
  name: `one message in flight at most, ${workers ? "for workers" : "for the consumer function"}`,
  behaviour: { ms: 2_000 },
  neighbour: { ms: 2_000 },
  definition: { rate: "20 seconds" },
  inFlightMax: 1,
  ...(workers && { workers }),
}));

/** Directed worlds for what is the worker's own, and the queue's limit for both kinds of consumer. */
export const WORKER_WORLDS: readonly SmallScenario[] = [
  SUSPECT,
  WAITS_BEHIND,
  HARDLY_HIDDEN,
  NOT_HIDDEN,
  SHUTDOWN,
  SHUTDOWN_ABORTS,
  SHUTDOWN_EARLY,
  FROZEN_AT_START,
  FROZEN_WITH_MESSAGES,
  NOT_STARTED,
  LOST_RECEIVE,
  STUCK,
  ...FEW_IN_FLIGHT,
];
