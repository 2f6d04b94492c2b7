import { isDeadLetter } from "../../core/announcement.ts";
import { type Instant, instant } from "../../core/instant.ts";
import { formatKey, isHead, isTerminal, type Occurrence, type OccurrenceKey } from "../../core/occurrence.ts";

/** A schedule as the view shows it. */
export interface ScheduleLine {
  readonly scheduleId: string;
  /** When it fires, in words. */
  readonly when: string;
  readonly state: string;
  /** What is wrong with its definition, when it fires nothing because of that. */
  readonly problem: string | undefined;
}

/** What the view knows. */
export interface ViewState {
  readonly schedules: ReadonlyMap<string, ScheduleLine>;
  /** The instants of each schedule's heads, by schedule and firing. */
  readonly heads: ReadonlyMap<string, ReadonlyMap<string, Instant>>;
  /** Runs that have left their head, newest change last, at most {@link RECENT_MAX}. */
  readonly recent: ReadonlyMap<string, Occurrence>;
  /** Open dead letters, oldest first, at most {@link DEAD_LETTERS_MAX}. */
  readonly deadLetters: ReadonlyMap<string, Occurrence>;
  /** How many runs ended, by status, since the view began. */
  readonly ended: ReadonlyMap<string, number>;
  /** How late the first attempt of each of the last {@link LATENESS_MAX} runs started, in milliseconds. */
  readonly latenessMs: readonly number[];
}

/** A {@link ViewState} that follows what happens. Not copied at each change, since changes come by the thousand. */
export interface View {
  readonly state: ViewState;
  /** A schedule was put, edited, or its status changed. */
  putSchedule(schedule: ScheduleLine): void;
  removeSchedule(scheduleId: string): void;
  /** An occurrence was written; `before` is the row that this one replaced. */
  putOccurrence(row: Occurrence, before: Occurrence | undefined): void;
  removeOccurrence(key: OccurrenceKey): void;
}

/** More than any terminal shows. */
const RECENT_MAX = 100;

/** Beyond it the oldest are no longer shown; the table has them all. */
const DEAD_LETTERS_MAX = 1_000;

/** Enough for a percentile. */
const LATENESS_MAX = 1_000;

/** A view of nothing yet. */
export function createView(): View {
  const schedules = new Map<string, ScheduleLine>();
  const heads = new Map<string, Map<string, Instant>>();
  const recent = new Map<string, Occurrence>();
  const deadLetters = new Map<string, Occurrence>();
  const ended = new Map<string, number>();
  const latenessMs: number[] = [];

  return {
    state: { schedules, heads, recent, deadLetters, ended, latenessMs },
    putSchedule: (schedule) => void schedules.set(schedule.scheduleId, schedule),
    removeSchedule: (scheduleId) => void schedules.delete(scheduleId),
    putOccurrence: (row, before) => {
      const key = formatKey(row);
      if (isHead(row)) headsOf(heads, row.scheduleId).set(row.firing, row.scheduledFor);
      else heads.get(row.scheduleId)?.delete(row.firing);
      if (!isHead(row) && (row.log.length > 0 || row.status !== "PENDING")) putLast(recent, key, row, RECENT_MAX);
      if (isDeadLetter(row)) putLast(deadLetters, key, row, DEAD_LETTERS_MAX);
      else deadLetters.delete(key);
      if (isTerminal(row.status) && before?.status !== row.status)
        ended.set(row.status, (ended.get(row.status) ?? 0) + 1);
      const lateMs = row.log.length === 1 && before?.log.length === 0 ? startLatenessMs(row) : undefined;
      if (lateMs !== undefined) latenessMs.push(lateMs);
      if (latenessMs.length > LATENESS_MAX) latenessMs.shift();
    },
    removeOccurrence: ({ scheduleId, firing }) => {
      heads.get(scheduleId)?.delete(firing);
      deadLetters.delete(formatKey({ scheduleId, firing }));
    },
  };
}

/** When a schedule fires next, as its chain stands. */
export function nextFiringOf(state: ViewState, scheduleId: string): Instant | undefined {
  const heads = [...(state.heads.get(scheduleId)?.values() ?? [])];
  return heads.length === 0 ? undefined : instant(Math.min(...heads));
}

/**
 * How long after its instant a run's first attempt started, in milliseconds; `undefined` when none has, its log no longer
 * shows it, or it is a backfill of an instant long past or a manual run, which has none.
 */
export function startLatenessMs(row: Occurrence): number | undefined {
  const first = row.log[0];
  return row.kind === "scheduled" && first?.attempt === 1 ? Math.max(0, first.startedAt - row.scheduledFor) : undefined;
}

function headsOf(heads: Map<string, Map<string, Instant>>, scheduleId: string): Map<string, Instant> {
  const own = heads.get(scheduleId) ?? new Map<string, Instant>();
  heads.set(scheduleId, own);
  return own;
}

/** Puts a row last in insertion order and drops the first where there are more than `max`. */
function putLast(rows: Map<string, Occurrence>, key: string, row: Occurrence, max: number): void {
  rows.delete(key);
  rows.set(key, row);
  const [oldest] = rows.keys();
  if (rows.size > max && oldest !== undefined) rows.delete(oldest);
}
