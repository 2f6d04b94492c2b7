import { type BackfillOptions, type BackfillOutcome, backfill } from "../app/manage/backfill.ts";
import { type CheckedDefinition, checkDefinitions } from "../app/manage/check.ts";
import { type DeadLetters, discardDeadLetter, listDeadLetters, replayDeadLetter } from "../app/manage/dead-letters.ts";
import { type DeleteOptions, deleteSchedule } from "../app/manage/delete.ts";
import { InvalidArgumentError, ScheduleExistsError } from "../app/manage/errors.ts";
import type { Manager } from "../app/manage/manager.ts";
import { cancelOccurrence, listOccurrences, type OccurrenceQuery, readOccurrence } from "../app/manage/occurrences.ts";
import { type PauseOptions, pauseSchedule, type ResumeOutcome, resumeSchedule } from "../app/manage/pause.ts";
import { type RunNowOptions, type RunNowOutcome, runNow } from "../app/manage/run-now.ts";
import {
  listSchedules,
  type PutOutcome,
  putIfVersion,
  putSchedules,
  readSchedules,
  type StandingSchedule,
} from "../app/manage/schedules.ts";
import { type WaitOptions, type WaitOutcome, waitForEnd } from "../app/manage/wait.ts";
import type { Page, ScheduleItem } from "../app/ports.ts";
import { InvalidScheduleError } from "../core/errors.ts";
import { DEFAULT_HISTORY_SECONDS } from "../core/lease.ts";
import type { Occurrence } from "../core/occurrence.ts";
import type { ScheduleDefinition } from "../core/schedule-definition.ts";
import { canonicalFiring, instantOf, keyOf, type OccurrenceName } from "./names.ts";

/** A page's length where none is asked for, and the longest: a call answers in a moment, whatever the table holds. */
const PAGE_DEFAULT = 50;
const PAGE_MAX = 1_000;

/** What to list. `cursor`: where an earlier page said there is more. */
export interface ListOptions {
  readonly limit?: number;
  readonly cursor?: string;
}

/** On what condition a schedule is put. */
export interface PutOptions {
  /** The version of the definition that it replaces, as `get` told it: a definition that somebody changed since is kept. */
  readonly ifVersion?: string;
}

/** A backfill, its range as a program has it: ISO date-times in UTC or with an offset, or dates. */
export interface BackfillRequest extends Omit<BackfillOptions, "from" | "to"> {
  /** Inclusive. */
  readonly from: Date | string;
  /** Exclusive, at most now, which is the default. */
  readonly to?: Date | string;
}

/**
 * Manages schedules and their runs for programs. Everything throws a `PunctualError` of its own class, with a `code`;
 * `StoreError` where DynamoDB did not do what it was asked.
 */
export interface SchedulerClient {
  /**
   * Creates or replaces a schedule; an operator's pause stays. Throws `InvalidScheduleError` with every problem, and
   * `ScheduleVersionError` where `ifVersion` is not the version that stands.
   */
  put(definition: ScheduleDefinition, options?: PutOptions): Promise<void>;
  /** Puts all, or nothing where any is invalid (`InvalidScheduleError`). One that the store refuses leaves the others alone. */
  putMany(definitions: readonly ScheduleDefinition[]): Promise<readonly PutOutcome[]>;
  /** Creates a schedule. Throws `ScheduleExistsError` where it stands already. */
  create(definition: ScheduleDefinition): Promise<void>;
  /** What `put` would say of these definitions, without writing any. */
  check(definitions: readonly unknown[]): readonly CheckedDefinition[];
  /** The schedule of this id, or `undefined`. */
  get(scheduleId: string): Promise<StandingSchedule | undefined>;
  /** The schedules of these ids, in their order. */
  getMany(scheduleIds: readonly string[]): Promise<readonly (StandingSchedule | undefined)[]>;
  /** A page of all schedules, or of a group's, in no order. */
  list(options?: ListOptions & { readonly group?: string }): Promise<Page<StandingSchedule>>;
  /** Removes a schedule: what is unfinished of it is cancelled, its history stays unless `purge` removes it too. */
  delete(scheduleId: string, options?: DeleteOptions): Promise<"removed" | "missing">;
  /** Stops its firings until `resume`. Throws `ScheduleNotFoundError`. */
  pause(scheduleId: string, options?: PauseOptions): Promise<"paused" | "already-paused">;
  /** Lets it fire again, from now on. Throws `ScheduleNotFoundError`. */
  resume(scheduleId: string): Promise<ResumeOutcome>;
  /** Runs its job now, under the caller's own key: the same key is the same run. Throws `ScheduleNotFoundError`. */
  runNow(scheduleId: string, options: RunNowOptions): Promise<RunNowOutcome>;
  /**
   * Runs the firings of `[from, to)` that did not run, only so many at a time, and waits for them: repeating it runs nothing
   * twice. `to` is now by default. Throws `ScheduleNotFoundError`, and `InvalidArgumentError` where the range is refused.
   */
  backfill(scheduleId: string, options: BackfillRequest): Promise<BackfillOutcome>;
  readonly occurrences: {
    /** A schedule's runs by firing, newest first; manual runs come after every instant. */
    list(query: Omit<OccurrenceQuery, "limit"> & ListOptions): Promise<Page<Occurrence>>;
    get(name: OccurrenceName): Promise<Occurrence | undefined>;
    /** Follows a run to its end, an hour by default; whatever ends the waiting leaves the run alone. Throws `OccurrenceNotFoundError`. */
    wait(name: OccurrenceName, options?: WaitOptions): Promise<WaitOutcome>;
    /** Ends a run that is not finished; the schedule goes on. Throws `OccurrenceNotFoundError`, `OccurrenceStateError`. */
    cancel(name: OccurrenceName): Promise<Occurrence>;
  };
  readonly deadLetters: {
    /** Open dead letters of all schedules or of one, newest first. */
    list(options?: { readonly limit?: number; readonly scheduleId?: string }): Promise<DeadLetters>;
    /** Lets a dead letter run again, with all its attempts. Throws `OccurrenceNotFoundError`, `OccurrenceStateError`. */
    replay(name: OccurrenceName): Promise<Occurrence>;
    /** Takes a dead letter off the list. Throws `OccurrenceNotFoundError`, `OccurrenceStateError`. */
    discard(name: OccurrenceName): Promise<Occurrence>;
  };
}

/** A client of the deployment behind `manager`. `timed` runs what asks for the store's time, once that is known. */
export function createSchedulerClient(
  manager: Manager,
  timed: <Result>(call: () => Promise<Result>) => Promise<Result> = (call) => call(),
): SchedulerClient {
  const check = (definitions: readonly unknown[]) => checkDefinitions(definitions, manager.settings);
  const putOne = async (definition: ScheduleDefinition, expect: "any" | "absent") => {
    const [outcome] = await putSchedules(manager, validItems(check([definition])), expect);
    if (outcome?.kind === "failed") throw outcome.error;
    if (outcome?.kind === "exists") throw new ScheduleExistsError(outcome.scheduleId);
  };
  return {
    put: async (definition, { ifVersion } = {}) => {
      if (ifVersion === undefined) return putOne(definition, "any");
      for (const item of validItems(check([definition]))) await putIfVersion(manager, item, ifVersion);
    },
    putMany: async (definitions) => putSchedules(manager, validItems(check(definitions)), "any"),
    create: (definition) => putOne(definition, "absent"),
    check,
    get: async (scheduleId) => (await readSchedules(manager, [scheduleId]))[0],
    getMany: (scheduleIds) => readSchedules(manager, scheduleIds),
    list: async ({ limit, ...query } = {}) => listSchedules(manager, { ...query, limit: pageLimit(limit) }),
    delete: (scheduleId, options) =>
      options?.purge
        ? timed(() => deleteSchedule(manager, scheduleId, options))
        : deleteSchedule(manager, scheduleId, options),
    pause: (scheduleId, options) => timed(() => pauseSchedule(manager, scheduleId, options)),
    resume: (scheduleId) => timed(() => resumeSchedule(manager, scheduleId)),
    runNow: (scheduleId, options) => timed(() => runNow(manager, scheduleId, options)),
    backfill: (scheduleId, { from, to, ...options }) =>
      timed(async () =>
        backfill(manager, scheduleId, {
          ...options,
          from: instantOf("from", from),
          to: to === undefined ? manager.clock.now() : instantOf("to", to),
        }),
      ),
    occurrences: {
      list: async ({ limit, from, to, ...query }) =>
        listOccurrences(manager, {
          ...query,
          limit: pageLimit(limit),
          ...(from !== undefined && { from: canonicalFiring(from) }),
          ...(to !== undefined && { to: canonicalFiring(to) }),
        }),
      get: async (name) => readOccurrence(manager, keyOf(name)),
      wait: (name, options) => timed(async () => waitForEnd(manager, keyOf(name), options)),
      cancel: (name) => timed(async () => cancelOccurrence(manager, keyOf(name))),
    },
    deadLetters: {
      list: async ({ limit, ...query } = {}) => listDeadLetters(manager, { ...query, limit: pageLimit(limit) }),
      replay: (name) => timed(async () => replayDeadLetter(manager, keyOf(name))),
      discard: (name) => timed(async () => discardDeadLetter(manager, keyOf(name))),
    },
  };
}

/** What a put of these definitions would say where nothing is known of the deployment: any queue is taken to be there. */
export const checkAnywhere = (definitions: readonly unknown[]): readonly CheckedDefinition[] =>
  checkDefinitions(definitions, { historySeconds: DEFAULT_HISTORY_SECONDS });

/** The items to write; throws `InvalidScheduleError` with the problems of all where any has one. */
function validItems(checked: readonly CheckedDefinition[]): readonly ScheduleItem[] {
  const [only] = checked;
  if (checked.length === 1 && only?.kind === "invalid") throw new InvalidScheduleError(only.label, only.problems);
  const problems = checked.flatMap((one) =>
    one.kind === "valid"
      ? []
      : one.problems.map(({ path, message }) => ({ path: path ? `${one.label}.${path}` : one.label, message })),
  );
  if (problems.length > 0) throw new InvalidScheduleError("list", problems);
  return checked.flatMap((one) => (one.kind === "valid" ? [one.item] : []));
}

function pageLimit(limit = PAGE_DEFAULT): number {
  if (Number.isInteger(limit) && limit >= 1 && limit <= PAGE_MAX) return limit;
  throw new InvalidArgumentError(`limit must be a whole number from 1 to ${PAGE_MAX}, got ${limit}`);
}
