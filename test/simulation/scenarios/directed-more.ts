import { DUE_AT, type SmallScenario } from "./small.ts";

/** The bus does not take the first events of schedules. */
const busIsAway: NonNullable<SmallScenario["troubles"]> = () => {
  let tries = 0;
  return ({ role, name }) => {
    if (role !== "reconciler" || name !== "publish") return undefined;
    tries += 1;
    return tries === 1 ? { kind: "throttled" } : undefined;
  };
};

const INVALID: SmallScenario = {
  name: "a definition that is not valid, while the bus is away",
  behaviour: { ms: 500 },
  happens: ({ kernel, store }) =>
    kernel.at(DUE_AT - 20_000, () => store.putItem({ scheduleId: "broken", cron: "never", job: "simulated" })),
};

const PAUSES_ITSELF: SmallScenario = {
  name: "a schedule that pauses itself after a dead letter, while the bus is away",
  behaviour: { ms: 500, permanent: true },
  definition: { rate: "20 seconds", pauseAfterDeadLetters: 1 },
};

/** For how long nobody takes a message: longer than several queue leases, shorter than the start deadline. */
const AWAY_MS = 3.5 * 3_600_000;

const LONG_BACKLOG: SmallScenario = {
  name: "consumers that are away for hours, with a firing every minute",
  behaviour: { ms: 500 },
  definition: { rate: "60 seconds" },
  lastsMs: AWAY_MS + 600_000,
  happens: ({ kernel }, platform) => {
    platform.stopped = true;
    kernel.at(DUE_AT + AWAY_MS, () => {
      platform.stopped = false;
    });
  },
};

/** Two firings are late, since a sweep has mended the chain meanwhile. The shard of the younger one is looked at first. */
const YOUNGER_SEEN_FIRST: SmallScenario = {
  name: "firings in order, the younger of which is seen first",
  behaviour: { ms: 2_000 },
  definition: { rate: "26 seconds", overlap: "wait" },
  shards: 2,
  silentMs: 62_000,
  happens: ({ kernel }, platform) => kernel.at(DUE_AT + 5_000, () => platform.sweep()),
};

/** Nobody tells of the first one's end: the next live firing finds its turn free before the second missed one looks again. */
const CAUGHT_UP_IN_ORDER: SmallScenario = {
  name: "firings in order, of which many were missed",
  behaviour: { ms: 2_000 },
  definition: { rate: "20 seconds", overlap: "wait", misfire: { policy: "all", graceSeconds: 0 } },
  silentMs: 180_000,
  troubles: () => {
    let first: string | undefined;
    return ({ process, role, name }) => {
      if (role !== "consumer" || name !== "history") return undefined;
      first ??= process;
      return process === first ? { kind: "request-lost" } : undefined;
    };
  },
};

/** More small worlds that each show one thing. */
export const MORE_DIRECTED: readonly SmallScenario[] = [
  { ...INVALID, troubles: busIsAway },
  { ...PAUSES_ITSELF, troubles: busIsAway },
  LONG_BACKLOG,
  YOUNGER_SEEN_FIRST,
  CAUGHT_UP_IN_ORDER,
];
