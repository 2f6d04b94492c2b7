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

/** More small worlds that each show one thing. */
export const MORE_DIRECTED: readonly SmallScenario[] = [
  { ...INVALID, troubles: busIsAway },
  { ...PAUSES_ITSELF, troubles: busIsAway },
  LONG_BACKLOG,
];
