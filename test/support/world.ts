import { createMemoryBus, type MemoryBus } from "../../lib/adapters/memory/bus.ts";
import { createMemoryQueue, type MemoryQueue } from "../../lib/adapters/memory/queue.ts";
import { createMemoryStore, type MemoryStore } from "../../lib/adapters/memory/store.ts";
import type { Engine, EngineSettings } from "../../lib/app/engine/engine.ts";
import { reconcile } from "../../lib/app/engine/reconcile.ts";
import { visitRows } from "../../lib/app/engine/visit-rows.ts";
import type { Logger, MessageQueue, OccurrenceStore, ScheduleItem, ScheduleStore } from "../../lib/app/ports.ts";
import { type Instant, toIso } from "../../lib/core/instant.ts";
import { decodeMessage, type OccurrenceMessage } from "../../lib/core/message.ts";
import type { Occurrence } from "../../lib/core/occurrence.ts";
import { NOON } from "./occurrences.ts";
import { LIMITS } from "./schedules.ts";
import { VirtualTime } from "./virtual-time.ts";

/** What a test puts in place of a world's own parts. Each port may wrap the real one. */
export interface WorldOptions {
  readonly start?: Instant;
  readonly settings?: Partial<EngineSettings>;
  readonly occurrences?: (real: OccurrenceStore) => Partial<OccurrenceStore>;
  readonly schedules?: (real: ScheduleStore) => Partial<ScheduleStore>;
  readonly queue?: (real: MessageQueue) => Partial<MessageQueue>;
  readonly random?: () => number;
}

/** An engine on memory adapters in virtual time, and all that a test wants to see of it. */
export interface World {
  readonly time: VirtualTime;
  readonly engine: Engine;
  readonly store: MemoryStore;
  readonly queues: MemoryQueue;
  readonly bus: MemoryBus;
  /** What was counted, and the newest of each gauge, by name. */
  readonly counts: ReadonlyMap<string, number>;
  /** What was logged: level and message. */
  readonly logs: readonly string[];
  put(item: ScheduleItem): void;
  /** The row of `scheduleId` at `firing`; throws where there is none. */
  row(scheduleId: string, firing: Instant | string): Occurrence;
  /** `<firing> <status>` of each row of a schedule, oldest firing first. */
  history(scheduleId: string): string[];
  /** The messages that lie in a queue. */
  messages(queue?: string): OccurrenceMessage[];
}

/** A world of one's own: nothing in it is shared. */
export function newWorld(options: WorldOptions = {}): World {
  const time = new VirtualTime(options.start ?? NOON);
  const store = createMemoryStore({ now: time.now });
  const queues = createMemoryQueue({ now: time.now, queues: { default: {}, slow: {}, plain: {} } });
  const counts = new Map<string, number>();
  const logs: string[] = [];
  let nonces = 0;
  const log =
    (level: string): Logger["info"] =>
    (message, fields) =>
      void logs.push(
        `${level}: ${message}${fields?.["error"] === undefined ? "" : ` (${JSON.stringify(fields["error"])})`}`,
      );
  const engine: Engine = {
    occurrences: { ...store.occurrences, ...options.occurrences?.(store.occurrences) },
    schedules: { ...store.schedules, ...options.schedules?.(store.schedules) },
    queue: { send: queues.send, ...options.queue?.(queues) },
    clock: time.clock,
    random: options.random ?? (() => 0.5),
    logger: { debug: log("debug"), info: log("info"), warn: log("warn"), error: log("error") },
    metrics: {
      count: (name, value = 1) => void counts.set(name, (counts.get(name) ?? 0) + value),
      record: () => undefined,
      gauge: (name, value) => void counts.set(name, value),
    },
    settings: {
      shards: 1,
      historySeconds: LIMITS.historySeconds,
      limits: { ...LIMITS, queues: { ...LIMITS.queues, plain: { timeoutMaxSeconds: 60 } } },
      completedWhenEnqueued: new Set(["plain"]),
      announce: { deployment: "Test", started: false, succeeded: false, retrying: false },
      ...options.settings,
    },
    newNonce: () => `nonce-${++nonces}`,
  };
  const firingOf = (firing: Instant | string) => (typeof firing === "string" ? firing : toIso(firing));
  return {
    time,
    engine,
    store,
    queues,
    bus: createMemoryBus(),
    counts,
    logs,
    put: store.putItem,
    row: (scheduleId, firing) => {
      const name = firingOf(firing);
      const found = store.allOccurrences().find((row) => row.scheduleId === scheduleId && row.firing === name);
      if (found === undefined) throw new Error(`no row ${scheduleId}@${name}`);
      return found;
    },
    history: (scheduleId) =>
      store
        .allOccurrences()
        .filter((row) => row.scheduleId === scheduleId)
        .map(({ firing, status }) => `${firing} ${status}`)
        .sort(),
    messages: (queue = "default") =>
      queues.peek(queue).map(({ body }) => {
        const decoded = decodeMessage(body);
        if (decoded.kind === "malformed") throw new Error(`a malformed message lies in ${queue}: ${body}`);
        return decoded.message;
      }),
  };
}

/** Visits all that is due now on the first shard, as a dispatcher's look does. */
export async function visitDue({ engine, time }: World): Promise<number> {
  const { rows } = await engine.occurrences.due({ shard: 0, until: time.now(), limit: 1_000 });
  return (await time.finish(visitRows(engine, rows))).moved;
}

/** Puts schedules that fire every minute and reconciles them a second before the world's next whole minute, which then comes. */
export async function dueAtNextMinute(world: World, items: readonly ScheduleItem[]): Promise<void> {
  for (const item of items) world.put(item);
  for (const { scheduleId } of items) await world.time.finish(reconcile(world.engine, scheduleId));
  world.time.leap(MINUTE_MS - (world.time.now() % MINUTE_MS));
}

const MINUTE_MS = 60_000;
