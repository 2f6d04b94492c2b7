import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { firingsBetween } from "../../../lib/core/firing/index.ts";
import { instant } from "../../../lib/core/instant.ts";
import { timingOf } from "./build.ts";

// The day rules, against definitions as literal as can be: every day of the walk is asked whether it is the one.

const DAY_MS = 86_400_000;
const dayOf = (at: number) => new Date(at).getUTCDate();
const weekdayOf = (at: number) => new Date(at).getUTCDay();
const monthOf = (at: number) => new Date(at).getUTCMonth();
const isWeekday = (at: number) => weekdayOf(at) >= 1 && weekdayOf(at) <= 5;

const months = new Map<number, readonly number[]>();

/** The days of the month `at` lies in. */
function daysOfMonth(at: number): readonly number[] {
  const date = new Date(at);
  const first = Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
  const known = months.get(first);
  if (known !== undefined) return known;
  const days: number[] = [];
  for (let day = first; monthOf(day) === monthOf(first); day += DAY_MS) days.push(day);
  months.set(first, days);
  return days;
}

/** The weekday of the month that is nearest to a day of it, the earlier of two that are as near. */
function isNearestWeekday(at: number, day: number): boolean {
  const wanted = daysOfMonth(at).find((candidate) => dayOf(candidate) === day);
  if (wanted === undefined) return false;
  const nearest = daysOfMonth(at)
    .filter(isWeekday)
    .sort((a, b) => Math.abs(a - wanted) - Math.abs(b - wanted) || a - b);
  return nearest[0] === at;
}

type DayRule = { readonly text: string; readonly holds: (at: number) => boolean };

const monthDayRules: fc.Arbitrary<DayRule> = fc.oneof(
  fc.constant({ text: "L", holds: (at: number) => monthOf(at + DAY_MS) !== monthOf(at) }),
  fc.constant({ text: "LW", holds: (at: number) => daysOfMonth(at).filter(isWeekday).at(-1) === at }),
  fc
    .integer({ min: 1, max: 30 })
    .map((n) => ({ text: `L-${n}`, holds: (at: number) => daysOfMonth(at).at(-1 - n) === at })),
  fc.integer({ min: 1, max: 31 }).map((day) => ({ text: `${day}W`, holds: (at: number) => isNearestWeekday(at, day) })),
  fc.integer({ min: 1, max: 31 }).map((day) => ({ text: `${day}`, holds: (at: number) => dayOf(at) === day })),
);

const weekdayRules: fc.Arbitrary<DayRule> = fc.oneof(
  fc.nat({ max: 6 }).map((weekday) => ({ text: `${weekday}`, holds: (at: number) => weekdayOf(at) === weekday })),
  fc.nat({ max: 6 }).map((weekday) => ({
    text: `${weekday}L`,
    holds: (at: number) =>
      daysOfMonth(at)
        .filter((day) => weekdayOf(day) === weekday)
        .at(-1) === at,
  })),
  fc.record({ weekday: fc.nat({ max: 6 }), nth: fc.integer({ min: 1, max: 5 }) }).map(({ weekday, nth }) => ({
    text: `${weekday}#${nth}`,
    holds: (at: number) => daysOfMonth(at).filter((day) => weekdayOf(day) === weekday)[nth - 1] === at,
  })),
  fc.record({ from: fc.nat({ max: 6 }), length: fc.nat({ max: 5 }) }).map(({ from, length }) => ({
    text: `${from}-${(from + length) % 7}`,
    holds: (at: number) => (weekdayOf(at) - from + 7) % 7 <= length,
  })),
);

const WALK_DAYS = 400;
const free: DayRule = { text: "*", holds: () => true };

const property = (
  rule: fc.Arbitrary<{ text: string; holds: (at: number) => boolean }>,
): fc.IProperty<[{ text: string; holds: (at: number) => boolean }, number]> =>
  fc.property(rule, fc.integer({ min: 1970 * 12, max: 2099 * 12 }), ({ text, holds }, month) => {
    const start = Date.UTC(Math.floor(month / 12), month % 12, 1);
    const end = start + WALK_DAYS * DAY_MS;
    const timing = timingOf({ cron: `0 0 ${text}` });
    const wanted: string[] = [];
    for (let day = start; day < end; day += DAY_MS) if (holds(day)) wanted.push(new Date(day).toISOString());
    const got = firingsBetween(timing, instant(start), instant(end), WALK_DAYS).map(({ scheduledFor }) =>
      new Date(scheduledFor).toISOString(),
    );
    expect(got).toEqual(wanted);
  });

describe("matching days agree with their literal definitions", () => {
  test("day of month alone", () => {
    const rule = monthDayRules.map(({ text, holds }) => ({ text: `${text} * *`, holds }));
    fc.assert(property(rule), { numRuns: 100 });
  });

  test("day of week alone", () => {
    const rule = weekdayRules.map(({ text, holds }) => ({ text: `* * ${text}`, holds }));
    fc.assert(property(rule), { numRuns: 100 });
  });

  test("either of two bound day fields, in lists", () => {
    const rule = fc.tuple(monthDayRules, monthDayRules, weekdayRules, weekdayRules).map(([a, b, c, d]) => ({
      text: `${a.text},${b.text} * ${c.text},${d.text}`,
      holds: (at: number) => [a, b, c, d].some(({ holds }) => holds(at)),
    }));
    fc.assert(property(rule), { numRuns: 60 });
  });

  test("both where one of them starts with a star", () => {
    const rule = fc
      .tuple(fc.integer({ min: 1, max: 5 }), fc.oneof(weekdayRules, fc.constant(free)))
      .map(([step, weekday]) => ({
        text: `*/${step} * ${weekday.text}`,
        holds: (at: number) => (dayOf(at) - 1) % step === 0 && weekday.holds(at),
      }));
    fc.assert(property(rule), { numRuns: 60 });
  });
});
