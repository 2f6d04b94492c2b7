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
  /** Open dead letters, oldest first. */
  readonly deadLetters: ReadonlyMap<string, Occurrence>;
  /** How many runs ended, by status, since the view began. */
  readonly ended: ReadonlyMap<string, number>;
  /** How late the first attempt of each of the last {@link LATENESS_MAX} runs started, in milliseconds. */
  readonly latenessMs: readonly number[];
}

/** More than any terminal shows. */
const RECENT_MAX = 100;

/** Enough for a percentile. */
const LATENESS_MAX = 1_000;

/** A view of nothing yet. */
export const emptyView: ViewState = {
  schedules: new Map(),
  heads: new Map(),
  recent: new Map(),
  deadLetters: new Map(),
  ended: new Map(),
  latenessMs: [],
};

/** A schedule was put, edited, or its status changed. */
export const withSchedule = (state: ViewState, schedule: ScheduleLine): ViewState => ({
  ...state,
  schedules: new Map(state.schedules).set(schedule.scheduleId, schedule),
});

/** A schedule was deleted. */
export const withoutSchedule = (state: ViewState, scheduleId: string): ViewState => ({
  ...state,
  schedules: without(state.schedules, scheduleId),
});

/** An occurrence was written; `before` is the row that this one replaced. */
export function withOccurrence(state: ViewState, row: Occurrence, before: Occurrence | undefined): ViewState {
  const key = formatKey(row);
  const begun = !isHead(row) && (row.log.length > 0 || row.status !== "PENDING");
  const recent = begun ? new Map(without(state.recent, key)).set(key, row) : state.recent;
  const ends = isTerminal(row.status) && before?.status !== row.status;
  const starts = row.log.length === 1 && (before?.log.length ?? 0) === 0;
  const late = starts ? startLatenessMs(row) : undefined;
  return {
    ...state,
    heads: withHead(state.heads, row),
    recent: recent.size > RECENT_MAX ? new Map([...recent].slice(-RECENT_MAX)) : recent,
    deadLetters: isDeadLetter(row) ? new Map(state.deadLetters).set(key, row) : without(state.deadLetters, key),
    ended: ends ? new Map(state.ended).set(row.status, (state.ended.get(row.status) ?? 0) + 1) : state.ended,
    latenessMs: late === undefined ? state.latenessMs : [...state.latenessMs, late].slice(-LATENESS_MAX),
  };
}

/** An occurrence's row was removed. */
export const withoutOccurrence = (state: ViewState, { scheduleId, firing }: OccurrenceKey): ViewState => ({
  ...state,
  heads: new Map(state.heads).set(scheduleId, without(state.heads.get(scheduleId) ?? new Map(), firing)),
  deadLetters: without(state.deadLetters, formatKey({ scheduleId, firing })),
});

/** When a schedule fires next, as its chain stands. */
export function nextFiringOf(state: ViewState, scheduleId: string): Instant | undefined {
  const heads = [...(state.heads.get(scheduleId)?.values() ?? [])];
  return heads.length === 0 ? undefined : instant(Math.min(...heads));
}

/** How long after its instant a run's first attempt started, in milliseconds; `undefined` when none has, or its log no longer shows it. */
export function startLatenessMs(row: Occurrence): number | undefined {
  const first = row.log[0];
  return first?.attempt === 1 ? Math.max(0, first.startedAt - row.scheduledFor) : undefined;
}

const isDeadLetter = ({ status }: Occurrence): boolean => status === "DEAD_LETTERED" || status === "FAILED";

function withHead(heads: ViewState["heads"], row: Occurrence): ViewState["heads"] {
  const own = heads.get(row.scheduleId) ?? new Map<string, Instant>();
  if (!isHead(row) && !own.has(row.firing)) return heads;
  const changed = isHead(row) ? new Map(own).set(row.firing, row.scheduledFor) : without(own, row.firing);
  return new Map(heads).set(row.scheduleId, changed);
}

function without<V>(map: ReadonlyMap<string, V>, key: string): ReadonlyMap<string, V> {
  if (!map.has(key)) return map;
  const copy = new Map(map);
  copy.delete(key);
  return copy;
}
