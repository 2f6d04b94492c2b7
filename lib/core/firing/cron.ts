import { shown } from "../validation.ts";
import { BoundedCache } from "./bounded-cache.ts";
import { type CronExpression, matchingDays, valueSet } from "./calendar.ts";
import { fieldsOf, type ParsedField, parseField } from "./cron-field.ts";
import type { Dialect, Field } from "./cron-fields.ts";
import { wordingOf } from "./cron-words.ts";
import { canMatch, daysByShape } from "./month-days.ts";

/** A cron expression read, or every sentence that is to be said about it. */
export type CronResult =
  | { readonly kind: "valid"; readonly expression: CronExpression }
  | { readonly kind: "invalid"; readonly messages: readonly string[] };

/** Vixie cron's nicknames (crontab(5)) and the further ones of `cron-parser`. */
const NICKNAMES: Readonly<Record<string, string>> = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
  "@minutely": "* * * * *",
  "@secondly": "* * * * * *",
  "@weekdays": "0 0 * * 1-5",
  "@weekends": "0 0 * * 0,6",
};

/** Every value of every field listed once stays below half of this (`cron-parser` has the same bound). */
const MAX_TEXT_LENGTH = 1024;
/** Parsed expressions kept; a definition is parsed anew by every visit of the dispatcher. */
const MAX_PARSED = 4_096;
const AWS_FORM = /^cron\s*\((.*)\)$/is;
const PLAIN_FIELD_COUNTS = "5 fields (minute hour day-of-month month day-of-week), or 6 with the second first";
const AWS_FIELD_COUNT = "6 fields within cron(...) (minute hour day-of-month month day-of-week year)";

const parsed = new BoundedCache<string, CronResult>(MAX_PARSED);
const invalid = (...messages: string[]): CronResult => ({ kind: "invalid", messages });

type Layout = { readonly dialect: Dialect; readonly tokens: readonly string[] };

/** Tells the dialects apart and counts the fields; a string is what is wrong. */
function layOut(text: string): Layout | string {
  const aws = AWS_FORM.exec(text);
  if (aws !== null) {
    const tokens = splitFields(aws[1] ?? "");
    if (tokens.length === 6) return { dialect: "aws", tokens };
    return `must have ${AWS_FIELD_COUNT}, got ${tokens.length} in ${shown(text)}`;
  }
  if (/^cron\b/i.test(text)) return `must be closed as in cron(0 9 ? * MON-FRI *), got ${shown(text)}`;
  if (/^(rate|at)\s*\(/i.test(text))
    return `must be a cron expression, got ${shown(text)}; rate and at are attributes of their own`;
  if (/^(CRON_)?TZ=/i.test(text)) return `must not name a time zone, got ${shown(text)}; the timezone attribute does`;
  if (text.startsWith("@")) {
    const expression = NICKNAMES[text.toLowerCase()];
    if (expression !== undefined) return { dialect: "plain", tokens: splitFields(expression) };
    const hint = /^@(reboot|every)\b/i.test(text) ? '; for a plain interval write rate, as in "5 minutes"' : "";
    return `must be one of ${Object.keys(NICKNAMES).join(", ")} when it starts with @, got ${shown(text)}${hint}`;
  }
  const tokens = splitFields(text);
  if (tokens.length === 5 || tokens.length === 6) return { dialect: "plain", tokens };
  return `must have ${PLAIN_FIELD_COUNTS}, got ${tokens.length} in ${shown(text)}`;
}

const splitFields = (text: string): readonly string[] => text.split(/\s+/).filter((token) => token !== "");

/** A bare AWS expression has `?` where six-field cron has its hour or month, or a year at its end. */
function awsHint({ dialect, tokens }: Layout): readonly string[] {
  const looksLikeAws = tokens[2] === "?" || tokens[4] === "?" || /^\d{4}$/.test(tokens[5] ?? "");
  if (dialect === "aws" || tokens.length !== 6 || !looksLikeAws) return [];
  return [`six fields without cron(...) have the second first; in the AWS form write cron(${tokens.join(" ")})`];
}

function readFields(layout: Layout, scheduleId: string | undefined): Map<Field, ParsedField> | readonly string[] {
  const fields = new Map<Field, ParsedField>();
  const messages: string[] = [];
  fieldsOf(layout.dialect, layout.tokens.length).forEach((field, index) => {
    const result = parseField(layout.tokens[index] ?? "", field, { dialect: layout.dialect, scheduleId });
    if (result.kind === "valid") fields.set(field, result.field);
    else messages.push(...result.messages);
  });
  if (messages.length > 0) return [...messages, ...awsHint(layout)];
  const questionMarks = [layout.tokens[2], layout.tokens[4]].filter((token) => token === "?").length;
  if (layout.dialect === "aws" && questionMarks !== 1)
    return [
      `exactly one of day-of-month and day-of-week must be "?" within cron(...), got ${shown(layout.tokens.join(" "))}`,
    ];
  return fields;
}

const SECOND_ZERO: ParsedField = {
  values: [0],
  monthDayRules: [],
  weekdayRules: [],
  canonical: "0",
  startsWithStar: false,
};

function dayRuleOf(monthDay: ParsedField, weekday: ParsedField): CronExpression["dayRule"] {
  const free = [monthDay, weekday].filter((field) => field.canonical === "*").length;
  if (free === 2) return "any";
  if (free === 1) return "one";
  return monthDay.startsWithStar || weekday.startsWithStar ? "both" : "either";
}

function build(dialect: Dialect, fields: Map<Field, ParsedField>): CronExpression {
  const get = (field: Field): ParsedField => {
    const parsedField = fields.get(field);
    if (parsedField === undefined) throw new Error(`field ${field} must have been read`);
    return parsedField;
  };
  const second = fields.get("second") ?? SECOND_ZERO;
  const [minute, hour] = [get("minute"), get("hour")];
  const [monthDay, month, weekday] = [get("day-of-month"), get("month"), get("day-of-week")];
  const year = fields.get("year");
  const boundYear = year === undefined || year.canonical === "*" ? undefined : year;
  const all = new Map<Field, ParsedField>([["second", second], ...fields]);
  if (boundYear === undefined) all.delete("year");
  const days = daysByShape({
    monthDays: { values: monthDay.values, rules: monthDay.monthDayRules },
    weekdays: { values: weekday.values, rules: weekday.weekdayRules },
    both: monthDay.startsWithStar || weekday.startsWithStar,
  });
  return {
    canonical: [...all.values()].map((field) => field.canonical).join(" "),
    wording: wordingOf(all),
    seconds: valueSet(second.values, 59),
    minutes: valueSet(minute.values, 59),
    hours: valueSet(hour.values, 23),
    months: month.values.reduce((mask, value) => mask | (1 << (value - 1)), 0),
    days,
    ...(boundYear === undefined ? {} : { years: [...boundYear.values].sort((a, b) => a - b) }),
    fixed: !minute.startsWithStar && !hour.startsWithStar,
    dayRule: dayRuleOf(monthDay, weekday),
    dialect,
  };
}

/** Whether any month the expression names has, in any of its years, a day that matches. */
function canHappen(expression: CronExpression): boolean {
  const months = Array.from({ length: 12 }, (_, index) => index + 1);
  if (expression.years === undefined)
    return months.some((month) => (expression.months & (1 << (month - 1))) !== 0 && canMatch(expression.days, month));
  return expression.years.some((year) => months.some((month) => matchingDays(expression, year, month) !== 0));
}

function parse(text: string, scheduleId: string | undefined): CronResult {
  if (text.length > MAX_TEXT_LENGTH)
    return invalid(`must be at most ${MAX_TEXT_LENGTH} characters, got ${text.length}`);
  const layout = layOut(text);
  if (typeof layout === "string") return invalid(layout);
  const fields = readFields(layout, scheduleId);
  if (!(fields instanceof Map)) return invalid(...fields);
  const expression = build(layout.dialect, fields);
  if (canHappen(expression)) return { kind: "valid", expression };
  return invalid(`must be able to fire, got ${shown(text)}: none of its months ever has such a day`);
}

/**
 * Reads a cron expression of any dialect: five fields, six with the second first, a nickname, or AWS `cron(...)`. `scheduleId` is
 * what `H` takes the hash of. The answer is remembered, so parsing the same text again costs a look-up.
 */
export function parseCron(rawText: string, scheduleId: string | undefined): CronResult {
  const text = rawText.trim();
  const hashes = /(^|[\s,])H/i.test(text);
  const seed = hashes && scheduleId !== undefined ? `#${scheduleId}` : "";
  return parsed.get(`${seed}\n${text}`, () => parse(text, scheduleId));
}
