import { createMemoryInbox } from "../../../../lib/adapters/memory/inbox.ts";
import type { Attempt, Execution, Runner } from "../../../../lib/app/engine/run-occurrence.ts";
import type { WorkerEvent, WorkerReport } from "../../../../lib/app/engine/worker/events.ts";
import { runWorker, type WorkerSettings } from "../../../../lib/app/engine/worker/run-worker.ts";
import type { Inbox } from "../../../../lib/app/ports.ts";
import { plusMs } from "../../../../lib/core/instant.ts";
import { encodeMessage, messageOf } from "../../../../lib/core/message.ts";
import type { Occurrence } from "../../../../lib/core/occurrence.ts";
import { anOccurrence, NOON } from "../../../support/occurrences.ts";
import { newWorld, type World, type WorldOptions } from "../../../support/world.ts";

export const VISIBILITY_SECONDS = 30;

/** A worker at work in a world. */
export interface WorkerRun {
  readonly events: readonly WorkerEvent[];
  /** The messages of the events of a kind, in order, by the schedules they are of. */
  told(kind: WorkerEvent["kind"]): string[];
  /** Takes nothing new. */
  drain(): void;
  /** Aborts what runs. */
  abort(): void;
  /** Drains, lets time pass until the worker has ended, and answers what it reports. */
  finish(): Promise<WorkerReport>;
}

/** A world whose rows wait for their messages, which lie in the queue. */
export interface WorkerWorld extends World {
  /** Dispatches a run of each schedule: a row, and its message in the queue. */
  dispatch(names: readonly string[], given?: Partial<Occurrence>): Promise<void>;
  /** Puts any body into the queue. */
  send(deduplicationId: string, body: string): Promise<void>;
  /** The queue's own inbox. */
  readonly inbox: Inbox;
  start(
    execute: (attempt: Attempt) => Promise<Execution>,
    more?: Partial<WorkerSettings> & { readonly inbox?: Partial<Inbox>; readonly runner?: Partial<Runner> },
  ): WorkerRun;
  statuses(names: readonly string[]): string[];
  /** How many messages the queue holds, hidden or not. */
  left(): number;
}

/** Makes it. */
export function newWorkerWorld(options: WorldOptions = {}): WorkerWorld {
  const world = newWorld(options);
  const { time, engine, queues } = world;
  const inbox = createMemoryInbox({ queues, queue: "default", host: time.host });
  const scheduleOf = new Map<string, string>();
  const send = async (deduplicationId: string, body: string) => {
    await queues.send([{ queue: "default", deduplicationId, body }]);
    for (const { messageId, body: sent } of queues.peek("default"))
      scheduleOf.set(messageId, /"scheduleId":"([^"]*)"/.exec(sent)?.[1] ?? messageId);
  };
  return {
    ...world,
    inbox,
    send,
    dispatch: async (names, given = {}) => {
      const held = {
        status: "DISPATCHED",
        owner: "d",
        leaseUntil: plusMs(time.now(), 3_600_000),
        dueAt: plusMs(time.now(), 3_600_000),
        attempts: 1,
        fencingToken: 1,
      } as const;
      for (const scheduleId of names) {
        const row = anOccurrence({ scheduleId, payload: "{}", ...held, ...given });
        await engine.occurrences.insert([row]);
        await send(`${row.occurrenceId}:${row.fencingToken}`, encodeMessage(messageOf(row)));
      }
    },
    start: (execute, { inbox: instead = {}, runner = {}, ...settings } = {}) => {
      const events: WorkerEvent[] = [];
      const draining = new AbortController();
      const aborting = new AbortController();
      const running = runWorker(
        { engine, host: time.host, execute, shutdown: aborting.signal, ...runner },
        { ...inbox, ...instead },
        {
          concurrency: 10,
          prefetch: 0,
          visibilitySeconds: VISIBILITY_SECONDS,
          waitSeconds: 20,
          onEvent: (event) => void events.push(event),
          ...settings,
        },
        draining.signal,
      );
      return {
        events,
        told: (kind) =>
          events.flatMap((event) =>
            event.kind === kind && "messageId" in event ? [scheduleOf.get(event.messageId) ?? event.messageId] : [],
          ),
        drain: () => draining.abort(),
        abort: () => aborting.abort(new DOMException("the worker is shutting down", "AbortError")),
        finish: () => {
          draining.abort();
          return time.finish(running);
        },
      };
    },
    statuses: (names) => names.map((name) => world.row(name, NOON).status),
    left: () => queues.peek("default").length,
  };
}
