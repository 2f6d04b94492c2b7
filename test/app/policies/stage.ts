import { announce, type RowChange } from "../../../lib/app/engine/announce.ts";
import { announceSchedules, type ItemChange } from "../../../lib/app/engine/announce-schedules.ts";
import { reconcile } from "../../../lib/app/engine/reconcile.ts";
import { type Execution, runOccurrence } from "../../../lib/app/engine/run-occurrence.ts";
import { visitRows } from "../../../lib/app/engine/visit-rows.ts";
import type { ScheduleItem } from "../../../lib/app/ports.ts";
import { type Instant, instant, plusMs, toIso } from "../../../lib/core/instant.ts";
import { decodeMessage } from "../../../lib/core/message.ts";
import type { Occurrence } from "../../../lib/core/occurrence.ts";
import { definitionVersion } from "../../../lib/core/schedule-version.ts";
import { callsForReconcile } from "../../support/settling.ts";
import { newWorld, type World, type WorldOptions } from "../../support/world.ts";

export const SECOND = 1_000;
export const MINUTE = 60_000;
export const HOUR = 3_600_000;
export const DAY = 86_400_000;

/** Rows that one look at a shard sees, as the dispatcher's does. */
const LOOK_ROWS = 100;
/** Looks until a stage must have come to rest: past them a test fails instead of hanging. */
const LOOKS_MAX = 5_000;

/** What a stage's jobs do: how long each takes, how it ends, and whether it is deaf to its signal. */
export type Job = (row: Occurrence) => {
  readonly takesMs?: number;
  readonly ends?: Execution;
  readonly deaf?: boolean;
};

/** One start of a job, with when it began and, once it has, how it ended. */
export interface Run {
  readonly scheduleId: string;
  readonly firing: string;
  readonly token: number;
  readonly from: Instant;
  to?: Instant;
  readonly signal: AbortSignal;
}

/** A change of a schedule, as its stream tells it. */
export interface StreamRecord {
  readonly scheduleId: string;
  readonly at: Instant;
  readonly version: string | undefined;
}

/**
 * A world played from event to event: dispatchers, consumers and the Schedules stream's reconciler at work, or any of them
 * down. Time passes only in {@link Stage.playUntil}.
 */
export class Stage {
  readonly world: World;
  /** Every start of a job, in order. */
  readonly runs: Run[] = [];
  /** Set to `false` for an outage. */
  dispatching = true;
  consuming = true;
  reconciling = true;
  /** Set to `true` to have announced what streams tell of, too. */
  announcing = false;
  job: Job;
  readonly #records: StreamRecord[] = [];
  readonly #allRecords: StreamRecord[] = [];
  readonly #changes: RowChange[] = [];
  readonly #itemChanges: ItemChange[] = [];
  /** Schedules that a change of a row calls to be reconciled. */
  readonly #settling = new Set<string>();
  #working = 0;

  constructor(options: WorldOptions = {}, job: Job = () => ({})) {
    this.world = newWorld(options);
    this.job = job;
    this.world.store.scheduleChanges.subscribe(({ key, old: before, new: item, at }) => {
      // A stream tells whole seconds, rounded down.
      const written = instant(Math.floor(at / SECOND) * SECOND);
      const record = { scheduleId: key, at: written, version: item && definitionVersion(item) };
      this.#records.push(record);
      this.#allRecords.push(record);
      if (this.announcing) this.#itemChanges.push({ ...(before && { before }), ...(item && { after: item }) });
    });
    this.world.store.occurrenceChanges.subscribe(({ old: before, new: after }) => {
      if (after !== undefined && callsForReconcile(after)) this.#settling.add(after.scheduleId);
      if (this.announcing && after !== undefined) this.#changes.push({ after, ...(before && { before }) });
    });
  }

  get now(): Instant {
    return this.world.time.now();
  }

  /** Puts an item as an editor does: what others wrote on it stays. */
  async edit(item: ScheduleItem): Promise<void> {
    await this.world.engine.schedules.put(item, "any");
  }

  /** The newest record of the Schedules stream. */
  lastRecord(): StreamRecord {
    const record = this.#allRecords.at(-1);
    if (record === undefined) throw new Error("no schedule was written yet");
    return record;
  }

  /** Brings a record of the Schedules stream once more, after all that came since. */
  repeat(record: StreamRecord): void {
    this.#records.push(record);
  }

  /** Plays until `at`, from event to event. */
  async playUntil(at: Instant): Promise<void> {
    for (;;) {
      await this.rest();
      if (this.now >= at) return;
      const next = this.#nextEvent();
      await this.world.time.pass(Math.min(next, at) - this.now);
    }
  }

  /** Lets everybody who is up do what is to be done now. */
  async rest(): Promise<void> {
    for (let look = 0; look < LOOKS_MAX; look += 1) {
      const reconciled = this.reconciling ? await this.#reconcile() : 0;
      const moved = this.dispatching ? await this.look() : 0;
      const started = this.consuming ? await this.#consume() : 0;
      const announced = await this.#announce();
      if (reconciled + moved + started + announced === 0) return;
    }
    throw new Error(`the stage does not come to rest at ${toIso(this.now)}`);
  }

  /** One look at every shard. */
  async look(engine = this.world.engine): Promise<number> {
    let moved = 0;
    for (let shard = 0; shard < engine.settings.shards; shard += 1) {
      const { rows } = await engine.occurrences.due({ shard, until: this.now, limit: LOOK_ROWS });
      if (rows.length > 0) moved += (await visitRows(engine, rows)).moved;
    }
    return moved;
  }

  /** Each row of a schedule: firing (minutes and seconds of its hour suffice to read), status, and what it skipped for. */
  rows(scheduleId = "a"): Occurrence[] {
    return this.world.store
      .allOccurrences()
      .filter((row) => row.scheduleId === scheduleId)
      .toSorted((left, right) => left.scheduledFor - right.scheduledFor);
  }

  /** What of a schedule was started, in order, by firing. */
  ran(scheduleId = "a"): string[] {
    return this.runs.filter((run) => run.scheduleId === scheduleId).map(({ firing }) => firing);
  }

  async #reconcile(): Promise<number> {
    const records = this.#records.splice(0);
    for (const { scheduleId, at, version } of records) await reconcile(this.world.engine, scheduleId, { at, version });
    const settling = [...this.#settling];
    this.#settling.clear();
    for (const scheduleId of settling) await reconcile(this.world.engine, scheduleId);
    return records.length + settling.length;
  }

  /** What did not get out is brought again, as a stream does. */
  async #announce(): Promise<number> {
    const changes = this.#changes.splice(0);
    const out = await announce(this.world.engine, this.world.bus, changes);
    this.#changes.push(...changes.filter((_, index) => !out[index]));
    const itemChanges = this.#itemChanges.splice(0);
    const told = await announceSchedules(this.world.engine, this.world.bus, itemChanges);
    this.#itemChanges.push(...itemChanges.filter((_, index) => !told[index]));
    return changes.length + itemChanges.length;
  }

  async #consume(): Promise<number> {
    const { queues, time } = this.world;
    const received = queues.receive({ queue: "default", max: 1_000, visibilityMs: HOUR });
    for (const { body, receiptHandle } of received) {
      const decoded = decodeMessage(body);
      if (decoded.kind === "malformed") throw new Error(`a malformed message was sent: ${body}`);
      this.#working += 1;
      void runOccurrence({ engine: this.world.engine, host: time.host, execute: this.#execute }, decoded.message).then(
        () => {
          this.#working -= 1;
          queues.delete({ queue: "default", receiptHandle });
        },
      );
    }
    if (received.length > 0) await time.pass(0);
    return received.length;
  }

  readonly #execute = async ({ row, signal }: { row: Occurrence; signal: AbortSignal }): Promise<Execution> => {
    const run: Run = {
      scheduleId: row.scheduleId,
      firing: row.firing,
      token: row.fencingToken,
      from: this.now,
      signal,
    };
    this.runs.push(run);
    const { takesMs = 0, ends = { kind: "succeeded" }, deaf } = this.job(row);
    if (takesMs > 0) await this.world.time.host.sleep(takesMs, deaf ? undefined : signal);
    run.to = this.now;
    return ends;
  };

  #nextEvent(): number {
    const due = this.dispatching
      ? this.world.store
          .allOccurrences()
          .flatMap(({ dueAt }) => (dueAt === undefined || dueAt <= this.now ? [] : [dueAt]))
      : [];
    // What a job's end brings forward is seen within a poll.
    const poll = this.#working > 0 ? this.now + SECOND : Number.POSITIVE_INFINITY;
    return Math.min(poll, ...due);
  }
}

/** A stage with one schedule on it, reconciled at its start. */
export async function stageWith(item: ScheduleItem, options: WorldOptions = {}, job?: Job): Promise<Stage> {
  const stage = new Stage(options, job);
  stage.world.put(item);
  await stage.rest();
  return stage;
}

/** `HH:MM`, with seconds where there are any, of an ISO instant. */
export const clockTime = (iso: string): string => {
  const [, time = ""] = iso.split("T");
  return time.slice(5, 8) === ":00" || time.slice(6, 8) === "00" ? time.slice(0, 5) : time.slice(0, 8);
};

/** `HH:MM STATUS[:reason]` of each row, oldest first; manual runs last. */
export const story = (rows: readonly Occurrence[]): string[] =>
  rows.map(({ firing, status, skipReason }) => `${clockTime(firing)} ${status}${skipReason ? `:${skipReason}` : ""}`);

/** The runs that were under way at one time, two by two: none where nothing overlapped. */
export function overlaps(runs: readonly Run[]): string[] {
  return runs.flatMap((run, index) =>
    runs
      .slice(index + 1)
      .filter(
        (other) =>
          other.from < (run.to ?? Number.POSITIVE_INFINITY) && run.from < (other.to ?? Number.POSITIVE_INFINITY),
      )
      .map((other) => `${run.firing} with ${other.firing}`),
  );
}

/** An instant `minutes` after `start`. */
export const minutesAfter = (start: Instant, minutes: number): Instant => plusMs(start, minutes * MINUTE);
