import { MONTH_SHAPES, monthShape } from "./calendar.ts";
import type { MonthDayRule, WeekdayRule } from "./cron-item.ts";
import { daysInMonth, LONGEST_MONTH_DAYS, SHORTEST_MONTH_DAYS } from "./gregorian.ts";

/** The two day fields of a cron expression. */
export interface DayFields {
  readonly monthDays: { readonly values: readonly number[]; readonly rules: readonly MonthDayRule[] };
  readonly weekdays: { readonly values: readonly number[]; readonly rules: readonly WeekdayRule[] };
  /** Both fields must match (one of them starts with `*` or `?`); otherwise either. */
  readonly both: boolean;
}

const SATURDAY = 6;
const SUNDAY = 0;
const DAYS_PER_WEEK = 7;

/** The weekday (1 to 5) nearest to a day without leaving its month, as Quartz and EventBridge define `nW`. */
function nearestWeekday(day: number, weekday: number, lengthDays: number): number {
  if (weekday === SATURDAY) return day === 1 ? day + 2 : day - 1;
  if (weekday === SUNDAY) return day === lengthDays ? day - 2 : day + 1;
  return day;
}

function dayOfRule(rule: MonthDayRule, weekdayAt: (day: number) => number, lengthDays: number): number | undefined {
  switch (rule.kind) {
    case "fromLast":
      return lengthDays - rule.backDays;
    case "nearestWeekday":
      return rule.day > lengthDays ? undefined : nearestWeekday(rule.day, weekdayAt(rule.day), lengthDays);
    case "lastWeekday":
      return nearestWeekday(lengthDays, weekdayAt(lengthDays), lengthDays);
    default:
      return rule satisfies never;
  }
}

function weekdayMatches(rule: WeekdayRule, weekday: number, day: number, lengthDays: number): boolean {
  if (rule.weekday !== weekday) return false;
  switch (rule.kind) {
    case "nth":
      return Math.ceil(day / DAYS_PER_WEEK) === rule.nth;
    case "last":
      return day + DAYS_PER_WEEK > lengthDays;
    default:
      return rule satisfies never;
  }
}

function daysOfShape({ monthDays, weekdays, both }: DayFields, firstWeekday: number, lengthDays: number): number {
  const weekdayAt = (day: number) => (firstWeekday + day - 1) % DAYS_PER_WEEK;
  const fromRules = new Set(monthDays.rules.map((rule) => dayOfRule(rule, weekdayAt, lengthDays)));
  let mask = 0;
  for (let day = 1; day <= lengthDays; day += 1) {
    const weekday = weekdayAt(day);
    const byMonthDay = monthDays.values.includes(day) || fromRules.has(day);
    const byWeekday =
      weekdays.values.includes(weekday) ||
      weekdays.rules.some((rule) => weekdayMatches(rule, weekday, day, lengthDays));
    if (both ? byMonthDay && byWeekday : byMonthDay || byWeekday) mask |= 1 << (day - 1);
  }
  return mask;
}

/** The matching days of a month of every shape, by `monthShape`; bit d-1 stands for day d. */
export function daysByShape(fields: DayFields): readonly number[] {
  const days = new Array<number>(MONTH_SHAPES).fill(0);
  for (let firstWeekday = 0; firstWeekday < DAYS_PER_WEEK; firstWeekday += 1) {
    for (let length = SHORTEST_MONTH_DAYS; length <= LONGEST_MONTH_DAYS; length += 1)
      days[monthShape(firstWeekday, length)] = daysOfShape(fields, firstWeekday, length);
  }
  return days;
}

/** Whether a month (1 to 12) has a matching day in any year. */
export function canMatch(days: readonly number[], month: number): boolean {
  const COMMON_YEAR = 2023;
  const LEAP_YEAR = 2024;
  const lengths = [daysInMonth(COMMON_YEAR, month), daysInMonth(LEAP_YEAR, month)];
  const weekdays = Array.from({ length: DAYS_PER_WEEK }, (_, weekday) => weekday);
  return weekdays.some((weekday) => lengths.some((length) => days[monthShape(weekday, length)] !== 0));
}
