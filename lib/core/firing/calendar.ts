import type { Dialect } from "./cron-fields.ts";
import type { CronWording } from "./cron-words.ts";
import { dateOf, dayNumber, daysInMonth, SHORTEST_MONTH_DAYS, weekdayOf } from "./gregorian.ts";
import type { DstPolicy } from "./timing.ts";

/** A set of small numbers, ready for "the first one from n on". */
export interface ValueSet {
  /** In ascending order, never empty. */
  readonly values: readonly number[];
  /** `nextFrom[n]` is the smallest value >= n, or -1. */
  readonly nextFrom: readonly number[];
}

/** A cron expression without zone or policy: which wall-clock times match. */
export interface CronExpression {
  /** What it means, letter for letter the same for all expressions that mean the same to a reader of cron: six or seven plain fields, `H` resolved. */
  readonly canonical: string;
  readonly seconds: ValueSet;
  readonly minutes: ValueSet;
  readonly hours: ValueSet;
  /** Bit m-1 stands for month m. */
  readonly months: number;
  /** Matching days by shape of the month, see `monthShape`; bit d-1 stands for day d. */
  readonly days: readonly number[];
  /** Ascending; absent means every year. */
  readonly years?: readonly number[];
  /** Neither the minute nor the hour field starts with `*`: a statement of a time of day rather than of a pace. */
  readonly fixed: boolean;
  readonly wording: CronWording;
  /** How the two day fields work together, for the description. */
  readonly dayRule: "any" | "one" | "both" | "either";
  readonly dialect: Dialect;
}

/** A cron expression in a zone, under a policy. */
export interface Calendar {
  readonly expression: CronExpression;
  readonly zone: string;
  readonly dst: DstPolicy;
}

const DAY_MS = 86_400_000;

/** How many shapes a month can have: seven first weekdays, four lengths. */
export const MONTH_SHAPES = 28;

/** Collects `values` into a set over 0 to `max`. */
export function valueSet(values: Iterable<number>, max: number): ValueSet {
  const sorted = [...new Set(values)].sort((a, b) => a - b);
  const nextFrom: number[] = [];
  for (let n = 0; n <= max + 1; n += 1) nextFrom.push(sorted.find((value) => value >= n) ?? -1);
  return { values: sorted, nextFrom };
}

/** The index of the month's shape in {@link CronExpression.days}. `firstWeekday`: 0 is Sunday. */
export const monthShape = (firstWeekday: number, lengthDays: number): number =>
  firstWeekday * 4 + lengthDays - SHORTEST_MONTH_DAYS;

/** The matching days of one month, bit d-1 for day d; none when the month or year is not in the expression. */
export function matchingDays(expression: CronExpression, year: number, month: number): number {
  if ((expression.months & (1 << (month - 1))) === 0) return 0;
  const firstWeekday = weekdayOf(dayNumber(year, month, 1));
  return expression.days[monthShape(firstWeekday, daysInMonth(year, month))] ?? 0;
}

/** The first matching day number in `[from, last]`, or `undefined`. */
function nextDay(expression: CronExpression, from: number, last: number): number | undefined {
  let { year, month, day } = dateOf(from);
  const lastYear = dateOf(last).year;
  while (year <= lastYear) {
    if (expression.years !== undefined && !expression.years.includes(year)) {
      const current = year;
      const later = expression.years.find((candidate) => candidate > current);
      if (later === undefined) return undefined;
      year = later;
      month = 1;
      day = 1;
      continue;
    }
    const left = matchingDays(expression, year, month) >>> (day - 1);
    if (left !== 0) {
      const found = dayNumber(year, month, day) + (31 - Math.clz32(left & -left));
      return found <= last ? found : undefined;
    }
    day = 1;
    month += 1;
    if (month > 12) {
      month = 1;
      year += 1;
    }
  }
  return undefined;
}

/** The first matching second of the day from `from` (0 to 86,399) on, or -1. */
function nextSecondOfDay({ hours, minutes, seconds }: CronExpression, from: number): number {
  const fromHour = Math.floor(from / 3600);
  const fromMinute = Math.floor(from / 60) % 60;
  const firstMinute = minutes.values[0] ?? -1;
  const firstSecond = seconds.values[0] ?? -1;
  if (hours.nextFrom[fromHour] === fromHour) {
    if (minutes.nextFrom[fromMinute] === fromMinute) {
      const second = seconds.nextFrom[from % 60] ?? -1;
      if (second >= 0) return fromHour * 3600 + fromMinute * 60 + second;
    }
    const minute = minutes.nextFrom[fromMinute + 1] ?? -1;
    if (minute >= 0) return fromHour * 3600 + minute * 60 + firstSecond;
  }
  const hour = hours.nextFrom[fromHour + 1] ?? -1;
  return hour < 0 ? -1 : hour * 3600 + firstMinute * 60 + firstSecond;
}

/**
 * The first wall-clock time in `[from, to)` that matches, or `undefined`. Wall-clock times are milliseconds as if the local clock
 * showed UTC; `from` is a whole second. Bounded: months are walked, at most to `to`.
 */
export function nextMatch(expression: CronExpression, from: number, to: number): number | undefined {
  if (from >= to) return undefined;
  const today = Math.floor(from / DAY_MS);
  const last = Math.floor((to - 1) / DAY_MS);
  const { year, month, day } = dateOf(today);
  const matchesToday =
    (expression.years === undefined || expression.years.includes(year)) &&
    (matchingDays(expression, year, month) & (1 << (day - 1))) !== 0;
  const second = matchesToday ? nextSecondOfDay(expression, (from - today * DAY_MS) / 1000) : -1;
  if (second >= 0) {
    const found = today * DAY_MS + second * 1000;
    return found < to ? found : undefined;
  }
  const later = today < last ? nextDay(expression, today + 1, last) : undefined;
  if (later === undefined) return undefined;
  const found = later * DAY_MS + nextSecondOfDay(expression, 0) * 1000;
  return found < to ? found : undefined;
}
