import { CronExpressionParser } from "cron-parser";
import { BoundedCache } from "./bounded-cache.ts";
import { type Dialect, type Field, type FieldRule, fieldRule } from "./cron-fields.ts";
import { hashFraction } from "./hash.ts";

/** A day of the month that depends on the month: `L` and `L-n`, `nW`, `LW`. */
export type MonthDayRule =
  | { readonly kind: "fromLast"; readonly backDays: number }
  | { readonly kind: "nearestWeekday"; readonly day: number }
  | { readonly kind: "lastWeekday" };

/** A weekday that depends on the month: `n#k`, `nL`. Weekday 0 is Sunday. */
export type WeekdayRule =
  | { readonly kind: "nth"; readonly weekday: number; readonly nth: number }
  | { readonly kind: "last"; readonly weekday: number };

/** What the reading of a field depends on beside its text. */
export interface FieldContext {
  readonly dialect: Dialect;
  /** Seeds `H`; absent when the schedule has no id. */
  readonly scheduleId: string | undefined;
}

/** One entry of a field's list, understood; `canonical` is plain cron, weekdays counted from 0 = Sunday. */
export type Item =
  | { readonly kind: "values"; readonly values: readonly number[]; readonly canonical: string }
  | { readonly kind: "monthDay"; readonly rule: MonthDayRule; readonly canonical: string }
  | { readonly kind: "weekday"; readonly rule: WeekdayRule; readonly canonical: string }
  | { readonly kind: "wrong"; readonly message: string };

const STAR = /^\*(?:\/(\d+))?$/;
const RANGE = /^(\d+|[A-Z]{3})(?:-(\d+|[A-Z]{3}))?(?:\/(\d+))?$/;
const HASHED = /^H(?:\((\d+)-(\d+)\))?(?:\/(\d+))?$/;
const FROM_LAST = /^L(?:-(\d+))?$/;
const NEAREST_WEEKDAY = /^(\d+)W$/;
const LAST_OF_WEEKDAY = /^(\d|[A-Z]{3})L$/;
const NTH_WEEKDAY = /^(\d|[A-Z]{3})#(\d+)$/;
/** The furthest `L-n` reaches back in the longest month. */
const MAX_BACK_DAYS = 30;
/** A weekday comes at most five times in a month. */
const MAX_NTH = 5;
/** Where `H` as day of month ends, so that every month has the day (Jenkins, "Cron syntax"). */
const HASHED_MONTH_DAY_MAX = 28;
const SATURDAY = 6;
const SUNDAY_AGAIN = 7;

const wrong = (message: string): Item => ({ kind: "wrong", message });

/** A value of every field that is quick to parse: what stands beside the one item that is asked about. */
const QUIET = { second: "0", minute: "0", hour: "0", "day-of-month": "1", month: "1", "day-of-week": "0" } as const;
/** Few distinct items are ever written; years are the longest. */
const MAX_EXPANDED = 4_096;
const expanded = new BoundedCache<string, readonly number[]>(MAX_EXPANDED);

/** Has `cron-parser` expand one plain item of one field. One at a time, because it refuses lists whose items overlap. */
function parseValues(field: Exclude<Field, "year">, item: string): readonly number[] {
  const written = { ...QUIET, [field]: item };
  const { fields } = CronExpressionParser.parse(Object.values(written).join(" "));
  const collection = {
    second: fields.second,
    minute: fields.minute,
    hour: fields.hour,
    "day-of-month": fields.dayOfMonth,
    month: fields.month,
    "day-of-week": fields.dayOfWeek,
  }[field];
  return collection.values.map(Number);
}

/** The values of a range; years, which `cron-parser` does not know, are counted here. */
function expand(field: Field, from: number, to: number, step: number): readonly number[] {
  if (field !== "year") {
    const item = from === to ? `${from}` : `${from}-${to}/${step}`;
    return expanded.get(`${field} ${item}`, () => parseValues(field, item));
  }
  const years: number[] = [];
  for (let year = from; year <= to; year += step) years.push(year);
  return years;
}

const rangeText = (from: number, to: number, step: number): string => {
  if (from === to) return `${from}`;
  return step === 1 ? `${from}-${to}` : `${from}-${to}/${step}`;
};

const valuesItem = (field: Field, from: number, to: number, step: number): Item => ({
  kind: "values",
  values: expand(field, from, to, step),
  canonical: rangeText(from, to, step),
});

/** A weekday range over the end of the week, as `FRI-MON`: counted on from its start, step by step. */
function wrappedWeekdays(from: number, to: number, step: number): Item {
  const beyond = from + Math.ceil((SUNDAY_AGAIN - from) / step) * step - SUNDAY_AGAIN;
  const first = valuesItem("day-of-week", from, SATURDAY, step);
  if (first.kind !== "values" || beyond > to) return first;
  const second = expand("day-of-week", beyond, to, step);
  return {
    kind: "values",
    values: [...first.values, ...second],
    canonical: [...first.values, ...second].join(","),
  };
}

/** The number of a token, in the dialect's own counting, or `undefined` when the field has no such value. */
function numberOf(token: string, field: Field, rule: FieldRule, dialect: Dialect): number | undefined {
  const named = rule.names.indexOf(token);
  if (named >= 0) return rule.min + named;
  if (!/^\d+$/.test(token)) return undefined;
  const value = Number(token);
  const max = field === "day-of-week" && dialect === "plain" ? SUNDAY_AGAIN : rule.max;
  return value >= rule.min && value <= max ? value : undefined;
}

/** `SUN` to `SAT` or a digit as 0 to 6. */
function weekdayOf(token: string, rule: FieldRule, dialect: Dialect): number | undefined {
  const value = numberOf(token, "day-of-week", rule, dialect);
  return value === undefined ? undefined : (value - rule.min) % SUNDAY_AGAIN;
}

function badStep(field: Field, raw: string, step: number, sizeOfRange: number): Item | undefined {
  if (step >= 1 && step <= sizeOfRange) return undefined;
  return wrong(`${field} step must be 1-${sizeOfRange} (the range it steps through has no more values), got "${raw}"`);
}

function rangeItem(match: RegExpExecArray, raw: string, field: Field, { dialect }: FieldContext): Item | undefined {
  const rule = fieldRule(field, dialect);
  const [, fromToken = "", toToken, stepToken] = match;
  const isWeekday = field === "day-of-week";
  const from = isWeekday ? weekdayOf(fromToken, rule, dialect) : numberOf(fromToken, field, rule, dialect);
  if (from === undefined) return undefined;
  const base = isWeekday ? 0 : rule.min;
  const max = base + rule.max - rule.min;
  const step = stepToken === undefined ? 1 : Number(stepToken);
  if (toToken === undefined) {
    if (stepToken === undefined) return valuesItem(field, from, from, 1);
    return badStep(field, raw, step, max - base + 1) ?? valuesItem(field, from, max, step);
  }
  const wholeWeek = isWeekday && dialect === "plain" && toToken === "7" && from === 0 && fromToken !== "7";
  const to = isWeekday
    ? wholeWeek
      ? SATURDAY
      : weekdayOf(toToken, rule, dialect)
    : numberOf(toToken, field, rule, dialect);
  if (to === undefined) return undefined;
  if (from > to && !isWeekday) return wrong(`${field} range must go upwards, got "${raw}"`);
  const bad = badStep(field, raw, step, from > to ? SUNDAY_AGAIN - from + to + 1 : to - from + 1);
  if (bad !== undefined) return bad;
  return from > to ? wrappedWeekdays(from, to, step) : valuesItem(field, from, to, step);
}

function hashedItem(match: RegExpExecArray, raw: string, field: Field, { dialect, scheduleId }: FieldContext): Item {
  const rule = fieldRule(field, dialect);
  if (dialect === "aws") return wrong(`${field} must be ${rule.allowed}, got "${raw}"`);
  const [, fromToken, toToken, stepToken] = match;
  const defaultMax = field === "day-of-month" ? HASHED_MONTH_DAY_MAX : rule.max;
  const from = fromToken === undefined ? rule.min : Number(fromToken);
  const to = toToken === undefined ? defaultMax : Number(toToken);
  if (from < rule.min || to > rule.max || from > to)
    return wrong(`${field} range of H must go upwards within ${rule.min}-${rule.max}, got "${raw}"`);
  if (scheduleId === undefined)
    return wrong(`${field} must not be H without a scheduleId to take the hash of, got "${raw}"`);
  const fraction = hashFraction(`${scheduleId}\n${field}`);
  if (stepToken === undefined) {
    const value = from + Math.floor(fraction * (to - from + 1));
    return valuesItem(field, value, value, 1);
  }
  const step = Number(stepToken);
  return badStep(field, raw, step, to - from + 1) ?? valuesItem(field, from + Math.floor(fraction * step), to, step);
}

function monthDayItem(item: string, raw: string): Item | undefined {
  if (item === "LW") return { kind: "monthDay", rule: { kind: "lastWeekday" }, canonical: item };
  const fromLast = FROM_LAST.exec(item);
  if (fromLast !== null) {
    const backDays = Number(fromLast[1] ?? 0);
    if (backDays > MAX_BACK_DAYS || fromLast[1] === "0")
      return wrong(`day-of-month L-n must have n 1-${MAX_BACK_DAYS}, got "${raw}"`);
    return { kind: "monthDay", rule: { kind: "fromLast", backDays }, canonical: item };
  }
  const nearest = NEAREST_WEEKDAY.exec(item);
  if (nearest === null) return undefined;
  const day = Number(nearest[1]);
  if (day < 1 || day > 31) return wrong(`day-of-month nW must have n 1-31, got "${raw}"`);
  return { kind: "monthDay", rule: { kind: "nearestWeekday", day }, canonical: `${day}W` };
}

function weekdayItem(item: string, raw: string, { dialect }: FieldContext): Item | undefined {
  const rule = fieldRule("day-of-week", dialect);
  if (item === "L" && dialect === "aws") return valuesItem("day-of-week", SATURDAY, SATURDAY, 1);
  const [, lastToken] = LAST_OF_WEEKDAY.exec(item) ?? [];
  const last = lastToken === undefined ? undefined : weekdayOf(lastToken, rule, dialect);
  if (last !== undefined) return { kind: "weekday", rule: { kind: "last", weekday: last }, canonical: `${last}L` };
  const [, nthToken, nthText] = NTH_WEEKDAY.exec(item) ?? [];
  const weekday = nthToken === undefined ? undefined : weekdayOf(nthToken, rule, dialect);
  if (weekday === undefined) return undefined;
  const nth = Number(nthText);
  if (nth < 1 || nth > MAX_NTH) return wrong(`day-of-week n#k must have k 1-${MAX_NTH}, got "${raw}"`);
  return { kind: "weekday", rule: { kind: "nth", weekday, nth }, canonical: `${weekday}#${nth}` };
}

function starItem(stepText: string | undefined, raw: string, field: Field, { dialect }: FieldContext): Item {
  const rule = fieldRule(field, dialect);
  const base = field === "day-of-week" ? 0 : rule.min;
  const size = rule.max - rule.min + 1;
  const step = stepText === undefined ? 1 : Number(stepText);
  const bad = badStep(field, raw, step, size);
  if (bad !== undefined) return bad;
  return {
    kind: "values",
    values: expand(field, base, base + size - 1, step),
    canonical: step === 1 ? "*" : `*/${step}`,
  };
}

/** Reads one entry of a field's list. Strict: whatever is not plainly right is `wrong`, with the field, the entry and what is allowed. */
export function parseItem(raw: string, field: Field, context: FieldContext): Item {
  const item = raw.toUpperCase();
  const isDay = field === "day-of-month" || field === "day-of-week";
  if (item === "?" && isDay) return starItem(undefined, raw, field, context);
  const star = STAR.exec(item);
  if (star !== null) return starItem(star[1], raw, field, context);
  const hashed = HASHED.exec(item);
  if (hashed !== null) return hashedItem(hashed, raw, field, context);
  const special = field === "day-of-month" ? monthDayItem(item, raw) : undefined;
  if (special !== undefined) return special;
  const weekday = field === "day-of-week" ? weekdayItem(item, raw, context) : undefined;
  if (weekday !== undefined) return weekday;
  const range = RANGE.exec(item);
  const found = range === null ? undefined : rangeItem(range, raw, field, context);
  return found ?? wrong(`${field} must be ${fieldRule(field, context.dialect).allowed}, got "${raw}"`);
}
