import { discardDeadLetter } from "../../../lib/app/manage/dead-letters.ts";
import { cancelOccurrence } from "../../../lib/app/manage/occurrences.ts";
import { DEAD_LETTER_QUEUE } from "../../../lib/app/ports.ts";
import { formatKey, isHead, type Occurrence } from "../../../lib/core/occurrence.ts";
import type { World } from "../world/world.ts";
import { firstConsumer } from "./directed.ts";
import { operate } from "./operators.ts";
import { DUE_AT, itemOf, type SmallScenario } from "./small.ts";

const MINUTE_MS = 60_000;
const HISTORY = { historySeconds: 900, lastsMs: 40 * MINUTE_MS } as const;
/** When what ended soon after its instant is gone. */
const GONE_AT = DUE_AT + 25 * MINUTE_MS;

/** Somebody cancels what stands at `at`. */
function cancelAt(world: World, at: number, which: (row: Occurrence) => boolean): void {
  world.kernel.at(at, () => {
    for (const row of world.store.allOccurrences().filter(which))
      operate(world, { action: "cancel", name: formatKey(row), work: (manager) => cancelOccurrence(manager, row) });
  });
}

const REMOVED_AT_ONCE: SmallScenario = {
  name: "rows that are removed as soon as they may be, while their schedule is swept, edited and paused",
  ...HISTORY,
  behaviour: { ms: 2_000, failsUntil: 1 },
  definition: { rate: "2 minutes" },
  happens: ({ kernel, store }, platform) => {
    for (const minute of [14, 15, 16, 22, 30]) kernel.at(DUE_AT + minute * MINUTE_MS, () => platform.sweep());
    kernel.at(DUE_AT + 18.5 * MINUTE_MS, () => store.putItem({ ...itemOf(REMOVED_AT_ONCE), description: "edited" }));
    kernel.at(DUE_AT + 24.5 * MINUTE_MS, () => store.putItem({ ...itemOf(REMOVED_AT_ONCE), rate: "3 minutes" }));
  },
};

/** Its row would be gone before its instant, if history were counted from the cancel. */
const CANCELLED_AHEAD: SmallScenario = {
  name: "a firing that is cancelled long before its instant, whose schedule is edited and swept in between",
  ...HISTORY,
  behaviour: { ms: 500 },
  definition: { startAt: new Date(DUE_AT + 30 * MINUTE_MS).toISOString() },
  happens: (world, platform) => {
    const { kernel, store } = world;
    cancelAt(world, DUE_AT, isHead);
    kernel.at(DUE_AT + 20 * MINUTE_MS, () => store.putItem({ ...itemOf(CANCELLED_AHEAD), description: "edited" }));
    kernel.at(DUE_AT + 22 * MINUTE_MS, () => platform.sweep());
  },
};

const CANCELLED_ONCE: SmallScenario = {
  name: "a one-shot that is cancelled long before its instant, and swept in between",
  ...HISTORY,
  behaviour: { ms: 500 },
  definition: { rate: undefined, startAt: undefined, at: new Date(DUE_AT + 30 * MINUTE_MS).toISOString() },
  happens: (world, platform) => {
    cancelAt(world, DUE_AT, isHead);
    world.kernel.at(DUE_AT + 22 * MINUTE_MS, () => platform.sweep());
  },
};

const ONCE: SmallScenario = {
  name: "a one-shot whose row is removed, and which is swept before and after",
  ...HISTORY,
  behaviour: { ms: 500 },
  definition: { rate: undefined, startAt: undefined, at: new Date(DUE_AT).toISOString() },
  happens: ({ kernel }, platform) => {
    for (const minute of [14, 16, 20, 30]) kernel.at(DUE_AT + minute * MINUTE_MS, () => platform.sweep());
  },
};

const LATE_MESSAGE: SmallScenario = {
  name: "a message that is received when the row of its cancelled run is gone",
  ...HISTORY,
  behaviour: { ms: 500 },
  happens: (world, platform) => {
    platform.stopped = true;
    cancelAt(world, DUE_AT + MINUTE_MS, ({ status }) => status === "DISPATCHED");
    world.kernel.at(GONE_AT, () => {
      platform.stopped = false;
    });
  },
};

const LATE_REPORT: SmallScenario = {
  name: "a report that arrives when its run has succeeded at another attempt and its row is gone",
  ...HISTORY,
  behaviour: { ms: 500 },
  troubles: firstConsumer((number, { name }) => {
    if (name !== "write" || number === 1) return name === "write" ? undefined : { kind: "request-lost" };
    return { kind: "late-effect", ms: GONE_AT - DUE_AT };
  }),
};

const LATE_REDRIVE: SmallScenario = {
  name: "a dead letter's message that is redriven when its discarded row is gone",
  ...HISTORY,
  behaviour: { ms: 500, permanent: true },
  happens: (world) => {
    const { kernel, queue, store } = world;
    kernel.at(DUE_AT + MINUTE_MS, () => {
      for (const row of store.allOccurrences().filter(({ status }) => status === "FAILED"))
        operate(world, { action: "discard", name: formatKey(row), work: (manager) => discardDeadLetter(manager, row) });
    });
    kernel.at(GONE_AT, () => {
      for (const { body, deduplicationId } of queue.peek(DEAD_LETTER_QUEUE))
        void queue.send([{ queue: "default", deduplicationId: `redriven:${deduplicationId}`, body }]);
      world.nudge();
    });
  },
};

/** Small worlds in which history is short, and rows are removed at once when it is over. */
export const EXPIRY_DIRECTED: readonly SmallScenario[] = [
  REMOVED_AT_ONCE,
  CANCELLED_AHEAD,
  CANCELLED_ONCE,
  ONCE,
  LATE_MESSAGE,
  LATE_REPORT,
  LATE_REDRIVE,
];
