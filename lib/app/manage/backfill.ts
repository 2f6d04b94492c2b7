import { InvalidScheduleError } from "../../core/errors.ts";
import { firesAt } from "../../core/firing/index.ts";
import { type Instant, plusMs, toIso } from "../../core/instant.ts";
import { newBackfill } from "../../core/new-occurrence.ts";
import { isTerminal, type Occurrence } from "../../core/occurrence.ts";
import type { Schedule } from "../../core/schedule.ts";
import { transition } from "../../core/transition.ts";
import { type SettleableWrite, settleable, writeSettled } from "../engine/settle.ts";
import { type BackfillPlan, type BackfillRange, planBackfill, readRows } from "./backfill-plan.ts";
import { InvalidArgumentError } from "./errors.ts";
import { type Manager, shardsOf } from "./manager.ts";
import { requireSchedule } from "./schedules.ts";

/** Runs under way at a time unless the caller says otherwise: live work is not to queue behind them. */
const CONCURRENCY_DEFAULT = 10;
const CONCURRENCY_MAX = 1_000;
/** How often the runs under way are looked at. */
const POLL_MS = 1_000;
/** Rounds in a row in which the store takes nothing, after which a backfill gives up. */
const FAILED_ROUNDS_MAX = 10;

/** Which firings to run, and how. */
export interface BackfillOptions extends BackfillRange {
  /** Plan only: nothing is written. */
  readonly dryRun?: boolean;
  /** Runs under way at a time, {@link CONCURRENCY_DEFAULT} by default. */
  readonly concurrency?: number;
  /** Told after every change. */
  readonly onProgress?: (progress: BackfillProgress) => void;
  /** Ends it: what is under way goes on, and the same call later does the rest. */
  readonly signal?: AbortSignal;
}

/** How far a backfill has come. */
export interface BackfillProgress {
  readonly wanted: number;
  readonly started: number;
  readonly finished: number;
  /** Of those finished, how many did not succeed. */
  readonly failed: number;
}

/** What a backfill found and did. With `stopped`, it was ended before all of its runs had finished. */
export interface BackfillOutcome extends BackfillPlan, BackfillProgressOutcome {}

interface BackfillProgressOutcome {
  readonly progress: BackfillProgress;
  readonly stopped: boolean;
}

/**
 * Runs the firings of a range that did not run: those without a row, and those that were passed over. Each is a run of its
 * own under its ordinary identity, of kind `backfill`, by the definition as it stands, also while the schedule is paused; so
 * repeating this, after a stop or a crash, runs nothing twice. Only so many are under way at a time. Throws
 * `ScheduleNotFoundError`, `InvalidScheduleError`, `InvalidArgumentError` where the range is refused, and `StoreError`.
 */
export async function backfill(
  manager: Manager,
  scheduleId: string,
  options: BackfillOptions,
): Promise<BackfillOutcome> {
  const { concurrency = CONCURRENCY_DEFAULT, dryRun = false } = options;
  if (!(Number.isInteger(concurrency) && concurrency >= 1 && concurrency <= CONCURRENCY_MAX))
    throw new InvalidArgumentError(
      `concurrency must be a whole number from 1 to ${CONCURRENCY_MAX}, got ${concurrency}`,
    );
  const { parsed } = await requireSchedule(manager, scheduleId);
  if (parsed.kind === "invalid") throw new InvalidScheduleError(scheduleId, parsed.problems);
  const plan = await planBackfill(manager, parsed.schedule, options);
  const idle = { wanted: plan.wanted.length, started: 0, finished: 0, failed: 0 };
  if (dryRun) return { ...plan, progress: idle, stopped: false };
  const run = new Run(manager, parsed.schedule, plan.wanted, await shardsOf(manager));
  return { ...plan, ...(await work(manager, run, concurrency, options)) };
}

async function work(
  { clock }: Manager,
  run: Run,
  concurrency: number,
  { onProgress, signal }: BackfillOptions,
): Promise<BackfillProgressOutcome> {
  for (let told = ""; ; ) {
    if (signal?.aborted) return { progress: run.progress(), stopped: !run.isDone() };
    await run.look();
    await run.start(concurrency);
    const progress = run.progress();
    const text = JSON.stringify(progress);
    if (text !== told) onProgress?.(progress);
    told = text;
    if (run.isDone()) return { progress, stopped: false };
    await clock.sleepUntil(plusMs(clock.now(), POLL_MS), signal);
  }
}

/** A backfill at work: what is still to be started, what is under way, what is over. */
class Run {
  readonly #manager: Manager;
  readonly #schedule: Schedule;
  readonly #shards: number;
  readonly #wanted: readonly Instant[];
  #todo: readonly Instant[];
  #underWay: readonly Instant[] = [];
  #finished = 0;
  #failed = 0;
  #failedRounds = 0;

  constructor(manager: Manager, schedule: Schedule, wanted: readonly Instant[], shards: number) {
    this.#manager = manager;
    this.#schedule = schedule;
    this.#shards = shards;
    this.#wanted = wanted;
    this.#todo = wanted;
  }

  progress(): BackfillProgress {
    const started = this.#wanted.length - this.#todo.length;
    return { wanted: this.#wanted.length, started, finished: this.#finished, failed: this.#failed };
  }

  isDone(): boolean {
    return this.#todo.length + this.#underWay.length === 0;
  }

  /** Looks at what is under way and counts what is over. */
  async look(): Promise<void> {
    const rows = await readRows(this.#manager, this.#schedule.scheduleId, this.#underWay);
    const going = this.#underWay.filter((at) => {
      const row = rows.get(toIso(at));
      const over = row === undefined || isTerminal(row.status);
      if (over && row?.status !== "SUCCEEDED") this.#failed += 1;
      return !over;
    });
    this.#finished += this.#underWay.length - going.length;
    this.#underWay = going;
  }

  /** Starts as many as may be under way besides. What the store does not take is tried again; throws its error in the end. */
  async start(concurrency: number): Promise<void> {
    const batch = this.#todo.slice(0, concurrency - this.#underWay.length);
    if (batch.length === 0) return;
    const rows = await readRows(this.#manager, this.#schedule.scheduleId, batch);
    const errors = new Map([
      ...(await this.#insert(batch.filter((at) => !rows.has(toIso(at))))),
      ...(await this.#revive([...rows.values()].filter(({ status }) => status === "SKIPPED"))),
    ]);
    this.#failedRounds = errors.size === batch.length ? this.#failedRounds + 1 : 0;
    const [error] = errors.values();
    if (error !== undefined && this.#failedRounds >= FAILED_ROUNDS_MAX) throw error;
    this.#underWay = [...this.#underWay, ...batch.filter((at) => !errors.has(at))];
    this.#todo = [...batch.filter((at) => errors.has(at)), ...this.#todo.slice(batch.length)];
  }

  async #insert(instants: readonly Instant[]): Promise<[Instant, Error][]> {
    const { occurrences, clock } = this.#manager;
    const rows = instants.flatMap((at) => {
      const firing = firesAt(this.#schedule.timing, at);
      return firing === undefined ? [] : [newBackfill(this.#schedule, firing, clock.now(), this.#shards)];
    });
    const verdicts = rows.length === 0 ? [] : await occurrences.insert(rows);
    return verdicts.flatMap((verdict, index): [Instant, Error][] => {
      const row = rows[index];
      return row !== undefined && (verdict.kind === "failed" || verdict.kind === "unknown")
        ? [[row.scheduledFor, verdict.error]]
        : [];
    });
  }

  async #revive(rows: readonly Occurrence[]): Promise<[Instant, Error][]> {
    const { clock, settings } = this.#manager;
    const event = { type: "backfill", refresh: this.#schedule.snapshot } as const;
    const writes = rows.flatMap((row): (SettleableWrite & { at: Instant })[] => {
      const next = transition(row, event, clock.now(), settings);
      if (next.kind === "refused") return [];
      return [{ at: row.scheduledFor, ...settleable(row, next, ({ status }) => status !== "SKIPPED") }];
    });
    const verdicts = await writeSettled(this.#manager, writes);
    // Refused is what somebody else revived: it is under way all the same.
    return verdicts.flatMap((verdict, index): [Instant, Error][] => {
      const write = writes[index];
      return write !== undefined && (verdict.kind === "failed" || verdict.kind === "unknown")
        ? [[write.at, verdict.error]]
        : [];
    });
  }
}
