import { replayDeadLetter } from "../../../lib/app/manage/dead-letters.ts";
import { instant } from "../../../lib/core/instant.ts";
import { formatKey } from "../../../lib/core/occurrence.ts";
import type { Fault, Point } from "../faults/plan.ts";
import type { World } from "../world/world.ts";
import { type Deed, operate } from "./operators.ts";
import { DUE_AT, itemOf, type SmallScenario } from "./small.ts";

/** A job that kills its process twice, beside one that takes longer. */
const BAD_NEIGHBOUR: SmallScenario = {
  name: "a job that kills its process",
  behaviour: { ms: 2_000, killsUntil: 2 },
  neighbour: { ms: 8_000 },
};

const DEADLY: SmallScenario = {
  name: "a job that kills its process for good",
  behaviour: { ms: 500, killsUntil: 9 },
  definition: { retry: { maxAttempts: 2, baseDelaySeconds: 1 } },
};

/** Each attempt of it kills its process, and its replay is due in the same moment as its neighbour's third attempt. */
const DEADLY_AGAIN: SmallScenario = {
  name: "a job that kills its process, replayed beside the neighbour that it took along",
  behaviour: { ms: 2_000, killsUntil: 9 },
  definition: { retry: { maxAttempts: 1 } },
  neighbour: { ms: 8_000, failsUntil: 2 },
  happens: (world) =>
    world.listen((fact) => {
      if (fact.type !== "row" || fact.new?.scheduleId !== "neighbour" || fact.new.status !== "RETRYING") return;
      const dead = world.store.allOccurrences().find(({ status }) => status === "DEAD_LETTERED");
      if (dead === undefined) return;
      const work: Deed["work"] = (manager) => replayDeadLetter(manager, dead);
      world.kernel.at(fact.new.dueAt ?? 0, () => operate(world, { action: "replay", name: formatKey(dead), work }));
    }),
};

const BORN_AGAIN: SmallScenario = {
  name: "a schedule that is deleted and put again: it finds its instants free",
  behaviour: { ms: 500 },
  happens: (world) => {
    world.kernel.at(DUE_AT - 20_000, () => void world.store.schedules.remove("small"));
    world.kernel.at(DUE_AT - 10_000, () => world.store.putItem(itemOf(BORN_AGAIN)));
  },
};

/** Firings that come faster than runs end, and must not overlap. */
const CROWDED: readonly SmallScenario[] = (["wait", "replace", "skip"] as const).map((overlap) => ({
  name: `runs that ${overlap}`,
  behaviour: { ms: 45_000 },
  definition: { rate: "20 seconds", overlap },
}));

const UNHEEDING: SmallScenario = {
  name: "runs that are replaced and pay no heed",
  behaviour: { ms: 45_000, deaf: true },
  definition: { rate: "20 seconds", overlap: "replace" },
};

/** Nobody tells of the end: the index still shows the row as due when its turn would be, and it is not to be taken before its own look. */
const SEEN_LATE: SmallScenario = {
  name: "a run that waits for another's end, in an index that is late",
  behaviour: { ms: 22_000 },
  definition: { rate: "20 seconds", overlap: "wait" },
  indexLagMs: 5_000,
  troubles:
    () =>
    ({ role, name }) =>
      role === "consumer" && name === "history" ? { kind: "request-lost" } : undefined,
};

const MISSED: SmallScenario = {
  name: "firings that nobody takes for three minutes: one run stands for them all",
  behaviour: { ms: 500 },
  definition: { rate: "20 seconds", misfire: { policy: "coalesce", graceSeconds: 0 } },
  silentMs: 180_000,
};

const LATE: SmallScenario = {
  name: "a dispatcher that comes after the next instant, too soon for a misfire",
  behaviour: { ms: 500 },
  definition: { rate: "20 seconds" },
  silentMs: 30_000,
};

/** What is written so shortly before the instant leaves the head to the dispatcher. */
const JUST_BEFORE_MS = 1_000;

const PAUSED_LATE: SmallScenario = {
  name: "a pause just before the instant, which ends soon after it",
  behaviour: { ms: 500 },
  happens: ({ kernel, store }) => {
    const at = instant(DUE_AT - JUST_BEFORE_MS);
    kernel.at(at, () => void store.schedules.pause("small", { at }));
    kernel.at(DUE_AT + 30_000, () => void store.schedules.resume("small", instant(DUE_AT + 30_000)));
  },
};

const EDITED_LATE: SmallScenario = {
  name: "other firing times just before the instant",
  behaviour: { ms: 500 },
  happens: ({ kernel, store }) =>
    kernel.at(DUE_AT - JUST_BEFORE_MS, () =>
      store.putItem({ ...itemOf(EDITED_LATE), startAt: new Date(DUE_AT + 45_000).toISOString() }),
    ),
};

const JUST_DUE: SmallScenario = {
  name: "an edit that is reconciled just after the instant, by a clock that is a little behind",
  behaviour: { ms: 500 },
  // No dispatcher is faster, and no header tells the reconciler that the instant has come.
  silentMs: 90_000,
  dates: (now) => (Math.abs(now - DUE_AT) < 10_000 ? "missing" : { wrongByMs: 0 }),
  happens: ({ kernel, store }) =>
    kernel.at(DUE_AT - 380, () =>
      store.putItem({ ...itemOf(JUST_DUE), startAt: new Date(DUE_AT + 45_000).toISOString() }),
    ),
};

const CANCELLED_HEAD: SmallScenario = {
  name: "a chain that comes to an instant that is taken",
  behaviour: { ms: 500 },
  definition: { rate: "20 seconds" },
  happens: (world) => world.kernel.at(DUE_AT + 10_000, () => takeInstants(world)),
};

/** The two next instants are backfilled ahead of their time, as it were: their rows stand, and are no heads. */
function takeInstants(world: World): void {
  const head = world.store.allOccurrences().find(({ status }) => status === "PENDING");
  if (head === undefined) return;
  for (const ms of [20_000, 40_000]) {
    const scheduledFor = instant(head.scheduledFor + ms);
    const firing = new Date(scheduledFor).toISOString();
    const { dueAt: _, ...row } = head;
    const taken = { ...row, firing, scheduledFor, occurrenceId: `taken-${firing}` };
    void world.store.occurrences.insert([{ ...taken, status: "CANCELLED", endedAt: world.kernel.now }]);
  }
}

const WISHES: SmallScenario = {
  name: "a job that says when to try again",
  behaviour: { ms: 500, failsUntil: 1, retryAfterSeconds: 40 },
};

/** The first consumer's exchanges from its `number`th write on, counted from 1, as `fate` says. */
export function firstConsumer(
  fate: (number: number, point: Point) => Fault | undefined,
): () => (point: Point) => Fault | undefined {
  return () => {
    let first: string | undefined;
    let writes = 0;
    return (point) => {
      if (point.role !== "consumer" || (first ?? point.process) !== point.process) return undefined;
      first = point.process;
      if (point.name === "write") writes += 1;
      return writes === 0 ? undefined : fate(writes, point);
    };
  };
}

const LOST = { kind: "request-lost" } as const;
const LONG = { behaviour: { ms: 70_000 }, definition: { timeoutSeconds: 120 } };

const SLOW_START: SmallScenario = {
  name: "a start that is answered after 20 s, and nothing after it",
  ...LONG,
  troubles: firstConsumer((number) => (number === 1 ? { kind: "slow", ms: 20_000 } : LOST)),
};

const STALE_START: SmallScenario = {
  name: "a start that is answered when its lease is over",
  ...LONG,
  troubles: firstConsumer((number) => (number === 1 ? { kind: "slow", ms: 31_000 } : undefined)),
};

const SLOW_RENEWAL: SmallScenario = {
  name: "a renewal that is answered after 15 s, and nothing after it",
  ...LONG,
  troubles: firstConsumer((number) => {
    if (number === 1) return undefined;
    return number === 2 ? { kind: "slow", ms: 15_000 } : LOST;
  }),
};

const LATE_RENEWAL: SmallScenario = {
  name: "a renewal that arrives after later ones, and none after it",
  ...LONG,
  troubles: firstConsumer((number, { at }) => {
    if (number === 2) return { kind: "late-effect", ms: 26_000 };
    return at > DUE_AT + 33_000 ? LOST : undefined;
  }),
};

const IN_DOUBT: SmallScenario = {
  name: "a send without an answer",
  behaviour: { ms: 500 },
  troubles: () => {
    let sends = 0;
    return ({ role, name }) => {
      if (role === "dispatcher" && name === "send") sends += 1;
      return name === "send" && sends === 1 ? { kind: "answer-lost" } : undefined;
    };
  },
};

const BACKLOG: SmallScenario = {
  name: "consumers that are away for five minutes, in an index that is late",
  behaviour: { ms: 500 },
  indexLagMs: 5_000,
  happens: ({ kernel }, platform) => {
    platform.stopped = true;
    kernel.at(DUE_AT + 300_000, () => {
      platform.stopped = false;
    });
  },
};

const RACED: SmallScenario = {
  name: "a row that another takes first, beside one that nobody does",
  behaviour: { ms: 500 },
  neighbour: { ms: 500 },
  // Between the look at both and the claim of both.
  happens: ({ kernel, store }) => kernel.at(DUE_AT + 20, () => void deferFirst(store)),
};

function deferFirst({ allOccurrences, occurrences }: World["store"]): Promise<unknown> {
  const due = allOccurrences().filter(
    ({ scheduleId, scheduledFor }) => scheduleId === "neighbour" && scheduledFor === DUE_AT,
  );
  const change = { set: { dueAt: instant(DUE_AT + 30_000) } };
  return occurrences.write(due.map(({ scheduleId, firing }) => ({ key: { scheduleId, firing }, guard: [], change })));
}

const COMES_BACK_AFTER_MS = 26_000;

const COMES_BACK: SmallScenario = {
  name: "a dead run that is replayed while the next one takes its turn",
  behaviour: { ms: 15_000, permanent: true },
  definition: { rate: `${COMES_BACK_AFTER_MS / 1000} seconds`, overlap: "wait" },
  // Each of the two runs has a dispatcher of its own.
  shards: 2,
  dispatchers: 2,
  happens: (world) =>
    world.kernel.at(DUE_AT + COMES_BACK_AFTER_MS + 300, () => {
      for (const row of world.store.allOccurrences().filter(({ status }) => status === "FAILED"))
        operate(world, { action: "replay", name: formatKey(row), work: (manager) => replayDeadLetter(manager, row) });
    }),
  troubles:
    () =>
    ({ name, at }) =>
      name === "passGates" && Math.abs(at - DUE_AT - COMES_BACK_AFTER_MS) < 200
        ? { kind: "paused-before", ms: 4_000 }
        : undefined,
};

const OLD_READING: SmallScenario = {
  name: "a sweep that read a pause, sees the heads after the resume, and dies at once",
  behaviour: { ms: 500 },
  happens: ({ kernel, store }, platform) => {
    const pausedAt = instant(DUE_AT - 30_000);
    const resumedAt = instant(pausedAt + 5_000);
    kernel.at(pausedAt, () => void store.schedules.pause("small", { at: pausedAt }));
    kernel.at(pausedAt + 3_000, () => platform.sweep());
    kernel.at(resumedAt, () => void store.schedules.resume("small", resumedAt));
  },
  troubles:
    () =>
    ({ process, name }) => {
      if (!process.startsWith("sweeper#")) return undefined;
      if (name === "removeHead") return { kind: "crash-after" };
      return name === "history" ? { kind: "paused-before", ms: 15_000 } : undefined;
    },
};

/** Small worlds that each show one thing, with no more trouble than they bring. */
export const DIRECTED: readonly SmallScenario[] = [
  BAD_NEIGHBOUR,
  DEADLY,
  DEADLY_AGAIN,
  BORN_AGAIN,
  ...CROWDED,
  UNHEEDING,
  SEEN_LATE,
  MISSED,
  LATE,
  PAUSED_LATE,
  EDITED_LATE,
  JUST_DUE,
  CANCELLED_HEAD,
  WISHES,
  SLOW_START,
  STALE_START,
  SLOW_RENEWAL,
  LATE_RENEWAL,
  IN_DOUBT,
  BACKLOG,
  RACED,
  COMES_BACK,
  OLD_READING,
];
