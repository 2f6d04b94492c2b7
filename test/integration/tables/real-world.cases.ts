import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { readDefinitions } from "../../../lib/local/definitions.ts";
import { defaultPolicy, type Entry, type OracleCron, oracleFirings } from "../../core/firing/oracle.ts";
import type { LocalWorld } from "../../support/local-world.ts";

const FILE = new URL("../../cases/real-world.json", import.meta.url).pathname;
const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

const cases = z.array(z.object({ scheduleId: z.string(), cron: z.string(), timezone: z.string().default("UTC") }));
const active = z.object({ state: z.literal("ACTIVE"), since: z.iso.datetime() });

const MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const WEEKDAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

/** One field of the expressions in the file, read by nothing but this: numbers, names, ranges, steps and lists. */
function entries(field: string, min: number, max: number, names: readonly string[] = []): Entry[] {
  const numberOf = (text: string): number => {
    const name = names.indexOf(text);
    return name === -1 ? Number(text) : name + min;
  };
  return field.split(",").map((part) => {
    const [range = "", step] = part.split("/");
    const star = range === "*" || range === "?";
    const [first = "", last] = range.split("-");
    const from = star ? min : numberOf(first);
    const to = star || (last === undefined && step !== undefined) ? max : numberOf(last ?? first);
    return { star, from, to, step: Number(step ?? 1) };
  });
}

function oracleCron(expression: string): OracleCron {
  const fields = (/^cron\((.*)\)$/.exec(expression)?.[1] ?? expression).split(" ");
  const [minute = "", hour = "", monthDay = "", month = "", weekday = ""] = fields;
  return {
    seconds: entries("0", 0, 59),
    minutes: entries(minute, 0, 59),
    hours: entries(hour, 0, 23),
    monthDays: entries(monthDay, 1, 31),
    months: entries(month, 1, 12, MONTHS),
    weekdays: entries(weekday, 0, 6, WEEKDAYS),
  };
}

/** The first instant after `afterMs` at which the oracle has `expression` fire, within a year. */
function nextByOracle(expression: string, timezone: string, afterMs: number): string | undefined {
  const cron = oracleCron(expression);
  const start = Math.floor(afterMs / MINUTE_MS) * MINUTE_MS;
  for (let day = 0; day < 366; day += 1) {
    const from = start + day * DAY_MS;
    const found = oracleFirings(cron, timezone, defaultPolicy(cron), from, from + DAY_MS).find((at) => at > afterMs);
    if (found !== undefined) return new Date(found).toISOString();
  }
  return undefined;
}

/** What becomes of schedules as people have them. */
export function realWorldSchedules(worldOf: () => LocalWorld): void {
  describe.concurrent("thirty schedules out of public repositories", () => {
    it("are all taken in one go, and each waits for the right instant", async () => {
      const world = worldOf();
      const schedules = cases.parse(JSON.parse(await readFile(FILE, "utf8")));
      expect(schedules).toHaveLength(30);
      await world.scheduler.put(await readDefinitions(FILE));
      const standing = await Promise.all(
        schedules.map(async ({ scheduleId, cron, timezone }) => {
          const { since } = await world.untilWritten(async () => {
            const status = active.safeParse((await world.item(scheduleId))?.["status"]);
            return status.success ? status.data : undefined;
          });
          const [first] = await world.history(scheduleId);
          return { scheduleId, firing: first?.firing, expected: nextByOracle(cron, timezone, Date.parse(since)) };
        }),
      );
      expect(standing.map(({ scheduleId, firing }) => ({ scheduleId, firing }))).toEqual(
        standing.map(({ scheduleId, expected }) => ({ scheduleId, firing: expected })),
      );
    });
  });
}
