import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { describeTiming, parseTiming, type TimingDefinition } from "../../../lib/core/firing/index.ts";
import { cronAround, cronShapes } from "./arbitraries.ts";
import { timingOf } from "./build.ts";

describe("a timing in words", () => {
  test.each<[TimingDefinition, string]>([
    [{ cron: "0 9 * * 1-5", timezone: "Europe/Berlin" }, "At 09:00, Monday through Friday, time zone Europe/Berlin"],
    [{ cron: "0 9 * * * *" }, "At 9 minutes past the hour, time zone UTC"],
    [
      { cron: "cron(0/5 8-17 ? * 2-6 *)" },
      "Every 5 minutes, between 08:00 and 17:59, Monday through Friday, time zone UTC",
    ],
    [{ cron: "0 0 ? * FRI-MON" }, "At 00:00, only on Sunday, Monday, Friday, and Saturday, time zone UTC"],
    [
      { cron: "0 0 13 * 5" },
      "At 00:00, on day 13 of the month, and on Friday (on days that match either day field), time zone UTC",
    ],
    [
      { cron: "0 0 */2 * 1" },
      "At 00:00, every 2 days in a month, and on Monday (only on days that match both day fields), time zone UTC",
    ],
    [{ cron: "cron(0 9 L * ? 2026-2030)" }, "At 09:00, on the last day of the month, 2026 through 2030, time zone UTC"],
    [
      { cron: "0 0 5,10W,L-3 * *" },
      "At 00:00, on day 5, the weekday nearest day 10 and the day 3 before the last of the month, time zone UTC",
    ],
    [
      { cron: "0 0 * 6 3,MON#2,FRIL" },
      "At 00:00, only in June, on every Wednesday, the second Monday of the month and the last Friday of the month, time zone UTC",
    ],
    [{ cron: "0-1,0-1/2 * * * *" }, "At 0 and 1 minutes past the hour, time zone UTC"],
    [{ cron: "0,20,40 5 * * *" }, "Every 20 minutes, between 05:00 and 05:59, time zone UTC"],
    [{ cron: "@daily", jitterSeconds: 90 }, "At 00:00, time zone UTC, each up to 1 minute 30 seconds late"],
    [{ rate: "PT90M" }, "Every 1 hour 30 minutes, counted from 1970-01-01T00:00:00.000Z"],
    [{ rate: "1 day", startAt: "2026-01-01T00:00:00Z" }, "Every day, from 2026-01-01T00:00:00.000Z"],
    [
      { at: "2026-11-29T09:00", timezone: "America/New_York", endAt: "2027-01-01T00:00:00Z" },
      "Once at 2026-11-29T14:00:00.000Z, time zone America/New_York, until 2027-01-01T00:00:00.000Z",
    ],
  ])("%j", (definition, words) => expect(describeTiming(timingOf(definition))).toBe(words));

  test("is found for whatever is valid", () => {
    fc.assert(
      fc.property(cronShapes, fc.nat({ max: 400 * 86_400 }), (shapes, second) => {
        const result = parseTiming({ cron: cronAround(shapes, second * 1000).text });
        if (result.kind === "valid")
          expect(describeTiming(result.timing)).toMatch(/^[A-Z0-9](?!.*(undefined|null|NaN|\*)).*$/);
      }),
      { numRuns: 300 },
    );
  });
});
