import { DUE_AT, itemOf, type SmallScenario } from "./small.ts";

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

/** Other times, the old ones with another payload, and all as it was: the head of before is gone, and what stands in its place knows another version. */
const TAKEN_BACK: SmallScenario = {
  name: "edits that are taken back, in an index that still shows the head of before",
  behaviour: { ms: 500 },
  indexLagMs: 30_000,
  happens: ({ kernel, store }) => {
    const item = itemOf(TAKEN_BACK);
    const elsewhere = { ...item, startAt: new Date(DUE_AT + 45_000).toISOString() };
    const edits = [elsewhere, { ...item, payload: { ms: 700 } }, item];
    for (const [index, edit] of edits.entries()) kernel.at(DUE_AT - 20_000 + index * 5_000, () => store.putItem(edit));
  },
};

/**
 * A dispatcher reads the schedule as paused and is slow to pass the head over. When the stream tells of the pause it is over, and
 * the head is still to come, by the reconciler's clock, which no header tells that the instant is past.
 */
const UNSEEN_PAUSE: SmallScenario = {
  name: "a pause around the instant, by hand, which is over before it is heard of",
  behaviour: { ms: 500 },
  dates: (now) => (Math.abs(now - DUE_AT) < 10_000 ? "missing" : { wrongByMs: 0 }),
  // Both edit the item as it stands, its status included.
  happens: ({ kernel, store }) =>
    kernel.at(DUE_AT - 300, () => {
      for (const item of store.allSchedules()) {
        store.putItem({ ...item, paused: true });
        kernel.at(DUE_AT + 50, () => store.putItem(item));
      }
    }),
  troubles:
    () =>
    ({ role, name, at }) =>
      role === "dispatcher" && name === "write" && Math.abs(at - DUE_AT) < 1_000
        ? { kind: "paused-before", ms: 5_000 }
        : undefined,
};

/** More small worlds that each show one thing. */
export const MORE_DIRECTED: readonly SmallScenario[] = [
  { ...INVALID, troubles: busIsAway },
  { ...PAUSES_ITSELF, troubles: busIsAway },
  LONG_BACKLOG,
  TAKEN_BACK,
  UNSEEN_PAUSE,
];
