import { announce, type RowChange } from "../../../lib/app/engine/announce.ts";
import { dispatch } from "../../../lib/app/engine/dispatch.ts";
import { reconcile, type Written } from "../../../lib/app/engine/reconcile.ts";
import { runBatch } from "../../../lib/app/engine/run-batch.ts";
import type { Delivery } from "../../../lib/app/engine/run-delivery.ts";
import { sweep } from "../../../lib/app/engine/sweep.ts";
import { errorMessage } from "../../../lib/core/errors.ts";
import { plusMs } from "../../../lib/core/instant.ts";
import { DISPATCHER } from "../../../lib/core/timing.ts";
import type { HostClocks } from "../world/host.ts";
import type { Process } from "../world/process.ts";
import { engineFor, type ProcessEngine } from "./engine.ts";
import { executeIn, type FencedEffects } from "./jobs.ts";

/** What the dispatcher's handler leaves of its invocation for its last claims to be sent. */
const STOP_BEFORE_END_MS = 5_000;
/** A function that has come this far without an end is killed by its platform. */
const OTHER_TIMEOUT_MS = 60_000;

/** Runs `work` as one invocation of a function: what it throws fails the invocation, and past its timeout it is killed. */
function invoke<T>(
  process: Process,
  timeoutMs: number,
  work: () => Promise<T>,
  settled: (result: { value: T } | "failed") => void,
): void {
  process.world.kernel.after(timeoutMs, () => process.kill("ran into its function's timeout"));
  work().then(
    (value) => {
      settled({ value });
      process.end();
    },
    (error: unknown) => {
      process.world.tell({ type: "process", what: "failed", why: errorMessage(error) }, process);
      settled("failed");
      process.kill("its invocation failed");
    },
  );
}

/** What a cold or warm start does before its use case: forgets the time, and asks for it. */
async function begun(engine: ProcessEngine): Promise<ProcessEngine> {
  engine.storeClock.thaw();
  await engine.storeClock.probe();
  return engine;
}

/** One invocation of dispatcher number `dispatcher` of `of`. */
export function runDispatcher(process: Process, clocks: HostClocks, dispatcher: number, of: number): void {
  const { kernel } = process.world;
  const { minuteMs, overlapMs } = DISPATCHER;
  const timeoutMs = DISPATCHER.timeoutSeconds * 1000;
  const end = new AbortController();
  process.after(timeoutMs - STOP_BEFORE_END_MS, () => end.abort());
  invoke(
    process,
    timeoutMs,
    async () => {
      const engine = await begun(engineFor(process, clocks, kernel.now + minuteMs + overlapMs));
      const start = engine.clock.now();
      const window = { dispatcher, of, soloUntil: plusMs(start, minuteMs), until: plusMs(start, minuteMs + overlapMs) };
      const narrowing = engine.storeClock.narrow(end.signal);
      return dispatch(engine, window, end.signal).finally(async () => {
        end.abort();
        await narrowing;
      });
    },
    () => undefined,
  );
}

/** What the consumer function's deployment decides. */
export interface ConsumerLimits {
  readonly timeoutMs: number;
  readonly concurrency: number;
}

/** One invocation of the consumer. `answered`: the ids that must come again, or that the invocation failed as a whole. */
export function runConsumer(
  process: Process,
  clocks: HostClocks,
  limits: ConsumerLimits,
  effects: FencedEffects,
  deliveries: readonly Delivery[],
  answered: (handBack: readonly string[] | "failed") => void,
): void {
  const { kernel } = process.world;
  const endsAt = kernel.now + limits.timeoutMs;
  invoke(
    process,
    limits.timeoutMs,
    async () => {
      const engine = await begun(engineFor(process, clocks));
      const runner = { engine, host: engine.host, execute: executeIn(process, engine, effects), logs: process.name };
      return runBatch(runner, deliveries, {
        remainingMs: () => endsAt - kernel.now,
        concurrency: limits.concurrency,
      });
    },
    // A handler whose job is deaf exits before it answers, and its platform fails the whole batch.
    (result) => {
      const exits = result !== "failed" && result.value.abandoned;
      if (exits) process.kill("a deaf job is still running: its handler exits");
      answered(result === "failed" || exits ? "failed" : result.value.handBack);
    },
  );
}

/** A record that calls for a reconcile: of the Schedules stream, with when and what was written, or of a row's change. */
export interface ScheduleRecord {
  readonly scheduleId: string;
  readonly written?: Written;
}

/** One invocation of the reconciler for `records` of one key. `done`: whether all went well. */
export function runReconciler(
  process: Process,
  clocks: HostClocks,
  records: readonly ScheduleRecord[],
  done: (well: boolean) => void,
): void {
  const { kernel } = process.world;
  invoke(
    process,
    OTHER_TIMEOUT_MS,
    async () => {
      const engine = await begun(engineFor(process, clocks));
      const newest = new Map(records.map((record) => [record.scheduleId, record]));
      for (const { scheduleId, written } of newest.values()) {
        const startedAt = kernel.now;
        const { state } = await reconcile(engine, scheduleId, written);
        // By a row's change alone nobody knows from when a definition counts: its own record is still to come.
        if (written !== undefined) process.world.tell({ type: "reconciled", scheduleId, startedAt, state }, process);
      }
    },
    (result) => done(result !== "failed"),
  );
}

/** One invocation of the notifier. `done`: whether each change is out. */
export function runNotifier(
  process: Process,
  clocks: HostClocks,
  changes: readonly RowChange[],
  done: (out: readonly boolean[]) => void,
): void {
  invoke(
    process,
    OTHER_TIMEOUT_MS,
    async () => {
      const engine = await begun(engineFor(process, clocks));
      return announce(engine, engine.bus, changes);
    },
    (result) => done(result === "failed" ? changes.map(() => false) : result.value),
  );
}

/** One sweep. */
export function runSweep(process: Process, clocks: HostClocks): void {
  invoke(
    process,
    10 * OTHER_TIMEOUT_MS,
    async () => {
      const engine = await begun(engineFor(process, clocks));
      return sweep(engine, engine.bus, new AbortController().signal);
    },
    () => undefined,
  );
}
