import { describe, expect, test } from "vitest";
import * as z from "zod";
import { InvalidScheduleError } from "../../../lib/core/errors.ts";
import { describeSchedule, nextFirings } from "../../../lib/core/firing/public.ts";
import cronCases from "../../cases/cron.json" with { type: "json" };
import realWorld from "../../cases/real-world.json" with { type: "json" };

const CASES_IN_FILE = 97;
const SCHEDULES_IN_FILE = 30;

const cases = z
  .array(
    z.object({
      id: z.string(),
      expr: z.string(),
      tz: z.string(),
      after: z.string(),
      expect: z.union([z.literal("none"), z.array(z.string())]),
      exhausted: z.boolean().optional(),
      source: z.string(),
    }),
  )
  .parse(cronCases);

/** What fires, none for an expression that is refused because it never can. */
function firingsOrNone(definition: { cron: string; timezone: string }, after: Date, count: number): string[] {
  try {
    return nextFirings(definition, { after, count }).map((date) => date.toISOString());
  } catch (error) {
    if (error instanceof InvalidScheduleError && error.message.includes("must be able to fire")) return [];
    throw error;
  }
}

describe("fires as the reporters of other schedulers' bugs expected", () => {
  test("in every case there is", () => expect(cases).toHaveLength(CASES_IN_FILE));

  test.each(cases)("$id: $expr in $tz after $after ($source)", ({ expr, tz, after, expect: wanted, exhausted }) => {
    const listed = wanted === "none" ? [] : wanted;
    const count = listed.length + (wanted === "none" || exhausted === true ? 1 : 0);
    expect(firingsOrNone({ cron: expr, timezone: tz }, new Date(after), count)).toEqual(listed);
  });
});

describe("takes schedules as they stand in public", () => {
  test("in every case there is", () => expect(realWorld).toHaveLength(SCHEDULES_IN_FILE));

  test.each(realWorld)("$scheduleId: $cron", (definition) => {
    const after = new Date("2026-01-01T00:00:00Z");
    expect(nextFirings(definition, { after, count: 3 })).toHaveLength(3);
    expect(describeSchedule(definition)).toMatch(/^[A-Z].+, time zone [A-Za-z_/]+$/);
  });
});
