import { backfill } from "../../../lib/app/manage/backfill.ts";
import { discardDeadLetter, replayDeadLetter } from "../../../lib/app/manage/dead-letters.ts";
import type { Manager } from "../../../lib/app/manage/manager.ts";
import { cancelOccurrence } from "../../../lib/app/manage/occurrences.ts";
import { pauseSchedule, resumeSchedule } from "../../../lib/app/manage/pause.ts";
import { runNow } from "../../../lib/app/manage/run-now.ts";
import type { ScheduleItem } from "../../../lib/app/ports.ts";
import { DEAD_LETTER_QUEUE } from "../../../lib/app/ports.ts";
import { errorMessage } from "../../../lib/core/errors.ts";
import { instant } from "../../../lib/core/instant.ts";
import { formatKey, isHead, isTerminal, type Occurrence } from "../../../lib/core/occurrence.ts";
import { servicesFor } from "../platform/engine.ts";
import { Environment } from "../world/environment.ts";
import type { OperatorAction } from "../world/facts.ts";
import { EXACT } from "../world/host.ts";
import type { Prng } from "../world/prng.ts";
import type { Process } from "../world/process.ts";
import type { World } from "../world/world.ts";
import { isShort, randomDefinition } from "./definitions.ts";

const TOOL_TIMEOUT_MS = 120_000;

/** One thing an operator does: on what, and by which use case. */
export interface Deed {
  readonly action: OperatorAction;
  readonly name: string;
  readonly work: (manager: Manager) => Promise<unknown>;
}

/** Lets somebody do something at random to the deployment, through the use cases that its tools call. */
export function meddle(world: World, prng: Prng): void {
  const deed = prng.pick(DEEDS)(world, prng);
  if (deed !== undefined) operate(world, deed);
}

/** Has an operator do `deed`. */
export function operate(world: World, deed: Deed): void {
  const process = world.spawn("operator", "operator");
  world.kernel.after(TOOL_TIMEOUT_MS, () => process.kill("its operator gave up"));
  void carryOut(process, deed);
}

async function carryOut(process: Process, { action, name, work }: Deed): Promise<void> {
  const { world } = process;
  const environment = new Environment(world, EXACT);
  environment.begin(process);
  const { services, logger, metrics } = servicesFor(environment);
  world.tell({ type: "operator", action, phase: "asked", name }, process);
  try {
    await services.clock.probe();
    await work({ ...services, logger, metrics, settings: world.settings });
    world.tell({ type: "operator", action, phase: "done", name }, process);
  } catch (error) {
    world.tell({ type: "process", what: "failed", why: `${action} ${name}: ${errorMessage(error)}` }, process);
  }
  process.end();
}

type Choose = (world: World, prng: Prng) => Deed | undefined;

const DEEDS: readonly Choose[] = [
  // Another timing, another behaviour: an edit.
  (world, prng) =>
    onSchedule(world, prng, "put", (item, { schedules }) => schedules.put(redefined(world, prng, item), "any")),
  // As a user's own PutItem replaces the item: nothing of what others wrote is kept.
  (world, prng) =>
    onSchedule(world, prng, "put", async (item) => {
      world.store.putItem(redefined(world, prng, item));
    }),
  (world, prng) => onSchedule(world, prng, "pause", ({ scheduleId }, manager) => pauseSchedule(manager, scheduleId)),
  (world, prng) => onSchedule(world, prng, "pause", ({ scheduleId }, manager) => pauseSchedule(manager, scheduleId)),
  (world, prng) => onPaused(world, prng),
  (world, prng) => onPaused(world, prng),
  (world, prng) => onPaused(world, prng),
  (world, prng) =>
    onSchedule(world, prng, "put", ({ enabled, ...item }, { schedules }) =>
      schedules.put({ ...item, enabled: enabled === false }, "any"),
    ),
  (world, prng) => onSchedule(world, prng, "delete", ({ scheduleId }, { schedules }) => schedules.remove(scheduleId)),
  (world, prng) => {
    const scheduleId = `s${prng.whole(0, 3)}`;
    const item = randomDefinition(world, prng, scheduleId);
    return { action: "put", name: scheduleId, work: ({ schedules }) => schedules.put(item, "absent") };
  },
  (world, prng) => onRow(world, prng, "cancel", (row) => !isTerminal(row.status), cancelOccurrence),
  (world, prng) => onRow(world, prng, "cancel", (row) => isHead(row), cancelOccurrence),
  (world, prng) => onRow(world, prng, "replay", isDead, replayDeadLetter),
  (world, prng) => onRow(world, prng, "replay", isDead, replayDeadLetter),
  (world, prng) => onRow(world, prng, "discard", isDead, discardDeadLetter),
  (world, prng) => {
    const key = `k${prng.whole(0, 5)}${age(world)}`;
    return onSchedule(world, prng, "run-now", ({ scheduleId }, manager) => runNow(manager, scheduleId, { key }));
  },
  (world, prng) => redrive(world, prng),
  (world, prng) => backfilled(world, prng),
  (world, prng) => poison(world, prng),
];

/** A run's key is remembered as long as its row: nobody uses one for so long, and what comes under another is another run. */
function age({ kernel, settings }: World): string {
  const number = Math.floor((2 * kernel.now) / (settings.historySeconds * 1000));
  return isShort(settings.historySeconds) ? `.${number}` : "";
}

/** How far back a backfill reaches. */
const BACKFILL_MS = { dense: 10 * 60_000, sparse: 4 * 3_600_000 } as const;

/** What did not run of the last while is to run after all; now and then two people ask for that at once. */
function backfilled(world: World, prng: Prng): Deed | undefined {
  // A little ago: its tool may read the store's time as a little earlier.
  const to = instant(world.kernel.now - 2_000);
  const backMs = Math.min(BACKFILL_MS[world.pace], world.settings.historySeconds * 1000 - TOOL_TIMEOUT_MS);
  const range = { from: instant(to - backMs), to, concurrency: prng.whole(1, 3) };
  const times = prng.whole(1, 2);
  return onSchedule(world, prng, "backfill", ({ scheduleId }, manager) =>
    Promise.all(Array.from({ length: times }, () => backfill(manager, scheduleId, range))),
  );
}

/** Bodies that no runner can read, or that are of no run: somebody sent them by hand. */
const POISON = ["", "{", "null", '{"scheduleId":"s0"}', '{"scheduleId":"s0","firing":"never","fencingToken":"one"}'];

function poison(world: World, prng: Prng): Deed {
  const body = prng.pick(POISON);
  const deduplicationId = `poison:${world.nonce()}`;
  return {
    action: "poison",
    name: deduplicationId,
    work: async () => {
      await world.queue.send([{ queue: "default", deduplicationId, body }]);
      world.nudge();
    },
  };
}

const isDead = ({ status }: Occurrence): boolean => status === "FAILED" || status === "DEAD_LETTERED";

function redefined(world: World, prng: Prng, { scheduleId, payload }: ScheduleItem): ScheduleItem {
  const item = randomDefinition(world, prng, scheduleId);
  return prng.chance(0.5) ? { ...item, ...(payload !== undefined && { payload }) } : item;
}

function onSchedule(
  world: World,
  prng: Prng,
  action: OperatorAction,
  work: (item: ScheduleItem, manager: Manager) => Promise<unknown>,
): Deed | undefined {
  const items = world.store.allSchedules();
  if (items.length === 0) return undefined;
  const item = prng.pick(items);
  return { action, name: item.scheduleId, work: (manager) => work(item, manager) };
}

function onPaused(world: World, prng: Prng): Deed | undefined {
  const items = world.store.allSchedules().filter((item) => item["paused"] !== undefined);
  if (items.length === 0) return undefined;
  const { scheduleId } = prng.pick(items);
  return { action: "resume", name: scheduleId, work: (manager) => resumeSchedule(manager, scheduleId) };
}

function onRow(
  world: World,
  prng: Prng,
  action: OperatorAction,
  eligible: (row: Occurrence) => boolean,
  work: (manager: Manager, row: Occurrence) => Promise<unknown>,
): Deed | undefined {
  const rows = world.store.allOccurrences().filter(eligible);
  if (rows.length === 0) return undefined;
  const row = prng.pick(rows);
  return { action, name: formatKey(row), work: (manager) => work(manager, row) };
}

/** In the console: a message of the dead-letter queue goes back to the main queue, as SQS's own redrive does. */
function redrive(world: World, prng: Prng): Deed | undefined {
  const messages = world.queue.peek(DEAD_LETTER_QUEUE);
  if (messages.length === 0) return undefined;
  const { body, deduplicationId } = prng.pick(messages);
  const times = prng.whole(1, 2);
  return {
    action: "redrive",
    name: deduplicationId,
    work: async ({ clock }) => {
      for (let time = 0; time < times; time += 1) {
        const once = `redriven:${deduplicationId}:${time}:${clock.now()}`;
        await world.queue.send([{ queue: "default", deduplicationId: once, body }]);
      }
      world.nudge();
    },
  };
}
