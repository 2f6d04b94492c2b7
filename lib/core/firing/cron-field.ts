import type { Dialect, Field } from "./cron-fields.ts";
import { type FieldContext, type MonthDayRule, parseItem, type WeekdayRule } from "./cron-item.ts";

/** One field, understood. */
export interface ParsedField {
  /** Each once, in no order. */
  readonly values: readonly number[];
  readonly monthDayRules: readonly MonthDayRule[];
  readonly weekdayRules: readonly WeekdayRule[];
  /** The field in plain cron: `H`, names and the AWS counting of weekdays resolved. */
  readonly canonical: string;
  /** `*` or `?` first: the sign by which cron tells a pace from a time of day, and a free day field from a bound one. */
  readonly startsWithStar: boolean;
}

/** A field read, or a sentence for every entry of it that is wrong. */
export type FieldResult =
  | { readonly kind: "valid"; readonly field: ParsedField }
  | { readonly kind: "invalid"; readonly messages: readonly string[] };

/** Splits a field's list without breaking `H(0-29)`, and reads every entry. */
export function parseField(text: string, field: Field, context: FieldContext): FieldResult {
  const values = new Set<number>();
  const monthDayRules: MonthDayRule[] = [];
  const weekdayRules: WeekdayRule[] = [];
  const canonical = new Set<string>();
  const messages: string[] = [];
  for (const raw of text.split(",")) {
    const item = raw === "" ? emptyEntry(field, text) : parseItem(raw, field, context);
    switch (item.kind) {
      case "values":
        for (const value of item.values) values.add(value);
        break;
      case "monthDay":
        monthDayRules.push(item.rule);
        break;
      case "weekday":
        weekdayRules.push(item.rule);
        break;
      case "wrong":
        messages.push(item.message);
        continue;
      default:
        item satisfies never;
    }
    canonical.add(item.canonical);
  }
  if (messages.length > 0) return { kind: "invalid", messages };
  const startsWithStar = text.startsWith("*") || text.startsWith("?");
  const parsed = {
    values: [...values],
    monthDayRules,
    weekdayRules,
    canonical: [...canonical].join(","),
    startsWithStar,
  };
  return { kind: "valid", field: parsed };
}

const emptyEntry = (field: Field, text: string) => ({
  kind: "wrong" as const,
  message: `${field} must not have an empty entry in its list, got "${text}"`,
});

/** The fields of an expression, in the order in which they are written. */
export const fieldsOf = (dialect: Dialect, count: number): readonly Field[] => {
  const middle = ["minute", "hour", "day-of-month", "month", "day-of-week"] as const;
  if (dialect === "aws") return [...middle, "year"];
  return count === middle.length ? middle : ["second", ...middle];
};
