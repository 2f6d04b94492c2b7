import fc from "fast-check";
import { type Entry, type OracleCron, type OraclePolicy, wallClock } from "./oracle.ts";

// Random expressions around a wall-clock time they are likely to match: fields drawn blindly would almost never fire within a walk.

interface FieldShape {
  readonly form: "star" | "starStep" | "value" | "range" | "rangeStep" | "fromStep";
  readonly offset: number;
  readonly length: number;
  readonly step: number;
}

interface Bounds {
  readonly min: number;
  readonly max: number;
}

const BOUNDS = {
  seconds: { min: 0, max: 59 },
  minutes: { min: 0, max: 59 },
  hours: { min: 0, max: 23 },
  monthDays: { min: 1, max: 31 },
  months: { min: 1, max: 12 },
  weekdays: { min: 0, max: 6 },
} as const satisfies Record<keyof OracleCron, Bounds>;

const shape = fc.record<FieldShape>({
  form: fc.constantFrom("star", "star", "starStep", "value", "value", "range", "rangeStep", "fromStep"),
  offset: fc.constantFrom(0, 0, 0, 1, -1, 2, -2, 15, 30),
  length: fc.nat({ max: 30 }),
  step: fc.integer({ min: 1, max: 30 }),
});
const shapes = fc.array(shape, { minLength: 1, maxLength: 3 });

function entryOf({ form, offset, length, step }: FieldShape, { min, max }: Bounds, target: number): Entry {
  const size = max - min + 1;
  const from = min + ((((target - min + offset) % size) + size) % size);
  const to = Math.min(max, from + length);
  switch (form) {
    case "star":
      return { star: true, from: min, to: max, step: 1 };
    case "starStep":
      return { star: true, from: min, to: max, step: Math.min(step, size) };
    case "value":
      return { star: false, from, to: from, step: 1 };
    case "range":
      return { star: false, from, to, step: 1 };
    case "rangeStep":
      return { star: false, from, to, step: Math.min(step, to - from + 1) };
    case "fromStep":
      return { star: false, from, to: max, step: Math.min(step, size) };
    default:
      return form satisfies never;
  }
}

function textOf({ form }: FieldShape, { from, to, step }: Entry): string {
  switch (form) {
    case "star":
      return "*";
    case "starStep":
      return `*/${step}`;
    case "value":
      return `${from}`;
    case "range":
      return `${from}-${to}`;
    case "rangeStep":
      return `${from}-${to}/${step}`;
    case "fromStep":
      return `${from}/${step}`;
    default:
      return form satisfies never;
  }
}

const star: FieldShape = { form: "star", offset: 0, length: 0, step: 1 };
const value = (offset: number): FieldShape => ({ form: "value", offset, length: 0, step: 1 });
const fieldShapes = fc.oneof({ weight: 2, arbitrary: fc.constant([star]) }, { weight: 3, arbitrary: shapes });
const daysShapes = fc.oneof({ weight: 4, arbitrary: fc.constant([star]) }, { weight: 1, arbitrary: shapes });

export const cronShapes = fc.record({
  seconds: fc.oneof(
    { weight: 5, arbitrary: fc.constant([value(0)]) },
    { weight: 1, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: shapes },
  ),
  minutes: fieldShapes,
  hours: fieldShapes,
  monthDays: daysShapes,
  months: daysShapes,
  weekdays: daysShapes,
});
export type CronShapes = typeof cronShapes extends fc.Arbitrary<infer T> ? T : never;

/** The expression of some shapes around a wall-clock time: as text for the implementation, as data for the oracle. */
export function cronAround(drawn: CronShapes, wall: number): { text: string; cron: OracleCron } {
  const date = new Date(wall);
  const targets = {
    seconds: 0,
    minutes: date.getUTCMinutes(),
    hours: date.getUTCHours(),
    monthDays: date.getUTCDate(),
    months: date.getUTCMonth() + 1,
    weekdays: date.getUTCDay(),
  };
  const shapesOf = (name: keyof OracleCron): readonly FieldShape[] => drawn[name] ?? [value(0)];
  const build = (name: keyof OracleCron) => {
    const entries = shapesOf(name).map((one) => ({
      one,
      entry: entryOf(one, BOUNDS[name], targets[name]),
    }));
    return {
      text: entries.map(({ one, entry }) => textOf(one, entry)).join(","),
      entries: entries.map(({ entry }) => entry),
    };
  };
  const [seconds, minutes, hours] = [build("seconds"), build("minutes"), build("hours")];
  const [monthDays, months, weekdays] = [build("monthDays"), build("months"), build("weekdays")];
  const written = [minutes, hours, monthDays, months, weekdays];
  if (drawn.seconds !== undefined) written.unshift(seconds);
  return {
    text: written.map(({ text }) => text).join(" "),
    cron: {
      seconds: seconds.entries,
      minutes: minutes.entries,
      hours: hours.entries,
      monthDays: monthDays.entries,
      months: months.entries,
      weekdays: weekdays.entries,
    },
  };
}

/** Every zone `Intl` lists, and UTC, which it does not. */
export const ZONES: readonly string[] = ["UTC", ...Intl.supportedValuesOf("timeZone")];

/** A place and an hour of some month from 1970 to 2099; three times in four the month's change of the clocks is looked for. */
export const moments = fc.record({
  zone: fc.constantFrom(...ZONES),
  year: fc.integer({ min: 1970, max: 2099 }),
  month: fc.oneof(fc.constantFrom(3, 4, 9, 10, 11), fc.integer({ min: 1, max: 12 })),
  minuteOfMonth: fc.nat({ max: 28 * 1440 - 1 }),
  seekChange: fc.constantFrom(true, true, true, false),
});

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** The hour in which the zone's clocks change in that month, if they do; else the moment as drawn. A whole minute. */
export function momentOf(drawn: typeof moments extends fc.Arbitrary<infer T> ? T : never): number {
  const start = Date.UTC(drawn.year, drawn.month - 1, 1);
  const plain = start + drawn.minuteOfMonth * MINUTE_MS;
  if (!drawn.seekChange) return plain;
  const offset = (at: number) => wallClock(drawn.zone, at) - at;
  for (let day = start; day < start + 31 * DAY_MS; day += DAY_MS) {
    if (offset(day) === offset(day + DAY_MS)) continue;
    let hour = day;
    while (hour < day + DAY_MS && offset(hour) === offset(hour + HOUR_MS)) hour += HOUR_MS;
    return hour + (drawn.minuteOfMonth % 60) * MINUTE_MS;
  }
  return plain;
}

export const policies: fc.Arbitrary<Partial<OraclePolicy> | undefined> = fc.oneof(
  { weight: 3, arbitrary: fc.constant(undefined) },
  {
    weight: 2,
    arbitrary: fc.record(
      {
        gap: fc.constantFrom("shift" as const, "skip" as const),
        repeated: fc.constantFrom("first" as const, "second" as const, "both" as const),
      },
      { requiredKeys: [] },
    ),
  },
);
