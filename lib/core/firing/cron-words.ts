import type { ParsedField } from "./cron-field.ts";
import { type Field, fieldRule } from "./cron-fields.ts";
import type { MonthDayRule, WeekdayRule } from "./cron-item.ts";

/** What a description is made from: cron text that cronstrue words rightly, and phrases for day rules that it cannot word in lists. */
export interface CronWording {
  readonly text: string;
  readonly dayPhrases: readonly string[];
}

const WEEKDAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"] as const;
const ORDINALS = ["first", "second", "third", "fourth", "fifth"] as const;
/** The shortest list that reads better as a step. */
const STEP_FROM_VALUES = 3;

/** Values as the shortest plain cron: `*`, `a`, `a-b`, `*` or `a` by a step, or a list. cronstrue drops members of lists that mix these. */
function shortest(values: readonly number[], min: number, max: number): string {
  const sorted = [...values].sort((a, b) => a - b);
  const [first = min, second = first] = sorted;
  const last = sorted.at(-1) ?? first;
  const step = second - first;
  if (sorted.length === max - min + 1) return "*";
  const even = sorted.every((value, index) => value === first + index * step);
  if (!even || sorted.length < STEP_FROM_VALUES) return sorted.join(",");
  if (step === 1) return `${first}-${last}`;
  if (last + step <= max) return sorted.join(",");
  return first === min ? `*/${step}` : `${first}-${max}/${step}`;
}

function monthDayPhrase(rule: MonthDayRule): string {
  switch (rule.kind) {
    case "fromLast":
      return rule.backDays === 0 ? "the last day" : `the day ${rule.backDays} before the last`;
    case "nearestWeekday":
      return `the weekday nearest day ${rule.day}`;
    case "lastWeekday":
      return "the last weekday";
    default:
      return rule satisfies never;
  }
}

const weekdayPhrase = (rule: WeekdayRule): string =>
  `the ${rule.kind === "last" ? "last" : ORDINALS[rule.nth - 1]} ${WEEKDAYS[rule.weekday]} of the month`;

const joined = (parts: readonly string[]): string =>
  parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;

const ascending = (values: readonly number[]): readonly number[] => [...values].sort((a, b) => a - b);

/** A phrase for a day field that lists a rule beside something else; cronstrue words all other fields. */
function phraseOf(name: Field, field: ParsedField): string | undefined {
  const rules = [...field.monthDayRules.map(monthDayPhrase), ...field.weekdayRules.map(weekdayPhrase)];
  if (rules.length === 0 || rules.length + field.values.length === 1) return undefined;
  if (name === "day-of-week")
    return `on ${joined([...ascending(field.values).map((day) => `every ${WEEKDAYS[day]}`), ...rules])}`;
  return `on ${joined([...ascending(field.values).map((day) => `day ${day}`), ...rules])} of the month`;
}

/** The wording of an expression's fields: second to day of week, and the year if it is bound. */
export function wordingOf(fields: ReadonlyMap<Field, ParsedField>): CronWording {
  const dayPhrases: string[] = [];
  const texts = [...fields].map(([name, field]) => {
    const phrase = phraseOf(name, field);
    if (phrase !== undefined) {
      dayPhrases.push(phrase);
      return "*";
    }
    const { min, max } = fieldRule(name, "plain");
    return field.values.length === 0 ? field.canonical : shortest(field.values, min, max);
  });
  return { text: texts.join(" "), dayPhrases };
}
