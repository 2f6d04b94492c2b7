/** The fields of a cron expression, in the words of error messages. */
export type Field = "second" | "minute" | "hour" | "day-of-month" | "month" | "day-of-week" | "year";

/** `plain`: five fields, or six with seconds first. `aws`: what stands within `cron(...)`, a year at the end. */
export type Dialect = "plain" | "aws";

/** What a field may hold. */
export interface FieldRule {
  readonly min: number;
  readonly max: number;
  /** Three-letter names, the first of which stands for `min`. */
  readonly names: readonly string[];
  /** A sentence for error messages. */
  readonly allowed: string;
}

const MONTH_NAMES = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"] as const;
const WEEKDAY_NAMES = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"] as const;

/** The years AWS allows (EventBridge Scheduler User Guide, "Cron-based schedules"). */
const AWS_YEARS = { min: 1970, max: 2199 } as const;

const plainRange = (min: number, max: number, names: readonly string[], allowed: string): FieldRule => ({
  min,
  max,
  names,
  allowed,
});

const PLAIN: Readonly<Record<Field, FieldRule>> = {
  second: plainRange(0, 59, [], "0-59, *, a-b, */step, a/step, H, or a list of these"),
  minute: plainRange(0, 59, [], "0-59, *, a-b, */step, a/step, H, or a list of these"),
  hour: plainRange(0, 23, [], "0-23, *, a-b, */step, a/step, H, or a list of these"),
  "day-of-month": plainRange(1, 31, [], "1-31, *, ?, a-b, */step, a/step, L, L-n, nW, LW, H, or a list of these"),
  month: plainRange(1, 12, MONTH_NAMES, "1-12 or JAN-DEC, *, a-b, */step, a/step, H, or a list of these"),
  "day-of-week": plainRange(
    0,
    6,
    WEEKDAY_NAMES,
    "0-7 (0 and 7 are Sunday) or SUN-SAT, *, ?, a-b, */step, a/step, nL (last in the month), n#1 to n#5, H, or a list of these",
  ),
  year: plainRange(AWS_YEARS.min, AWS_YEARS.max, [], "1970-2199, *, a-b, */step, a/step, or a list of these"),
};

const AWS_WEEKDAY: FieldRule = {
  min: 1,
  max: 7,
  names: WEEKDAY_NAMES,
  allowed:
    "1-7 (1 is Sunday) or SUN-SAT, *, ?, a-b, */step, a/step, L, nL (last in the month), n#1 to n#5, or a list of these",
};

/** The rule of a field in a dialect: AWS counts weekdays from 1 = Sunday. */
export const fieldRule = (field: Field, dialect: Dialect): FieldRule =>
  dialect === "aws" && field === "day-of-week" ? AWS_WEEKDAY : PLAIN[field];
