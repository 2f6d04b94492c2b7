// How many firings a second: this project beside plain cron-parser and croner, one run, the same expressions.
//   npx vitest bench --run --project unit test/bench/firing.bench.ts
// The others answer a different question (neither has this project's policies); what is compared is the price of stepping.

import { CronExpressionParser } from "cron-parser";
import { Cron } from "croner";
import { bench, describe } from "vitest";
import { nextFiring, parseTiming, type Timing } from "../../lib/core/firing/index.ts";
import { nextOfCalendar } from "../../lib/core/firing/steps.ts";
import { type Instant, instant } from "../../lib/core/instant.ts";

const STEPS = 100;
const START = Date.parse("2026-01-01T00:00:00Z");
const EXPRESSIONS = [
  { cron: "* * * * *", timezone: "UTC" },
  { cron: "*/15 * * * *", timezone: "America/New_York" },
  { cron: "0 9 * * 1-5", timezone: "Europe/Berlin" },
  { cron: "0 0 1 * *", timezone: "Asia/Kolkata" },
] as const;

function timingOf(cron: string, timezone: string): Timing & { kind: "cron" } {
  const result = parseTiming({ cron, timezone });
  if (result.kind === "invalid" || result.timing.kind !== "cron") throw new Error(`${cron} must be valid`);
  return result.timing;
}

for (const { cron, timezone } of EXPRESSIONS) {
  describe(`${STEPS} firings of ${cron} in ${timezone}`, () => {
    const timing = timingOf(cron, timezone);

    bench("punctual", () => {
      let after: Instant = instant(START);
      for (let step = 0; step < STEPS; step += 1) after = nextOfCalendar(timing.calendar, after)?.at ?? instant(START);
    });

    bench("cron-parser", () => {
      const expression = CronExpressionParser.parse(cron, { currentDate: new Date(START), tz: timezone });
      for (let step = 0; step < STEPS; step += 1) expression.next();
    });

    bench("croner", () => {
      const job = new Cron(cron, { timezone, paused: true });
      let after = new Date(START);
      for (let step = 0; step < STEPS; step += 1) after = job.nextRun(after) ?? new Date(START);
    });
  });
}

describe(`the same question ${STEPS} times, as a dispatcher asks it: parse the definition, ask for the next firing`, () => {
  const after = instant(START);

  bench("punctual", () => {
    for (let step = 0; step < STEPS; step += 1) nextFiring(timingOf("0 9 * * 1-5", "Europe/Berlin"), after);
  });

  bench("cron-parser", () => {
    for (let step = 0; step < STEPS; step += 1)
      CronExpressionParser.parse("0 9 * * 1-5", { currentDate: new Date(START), tz: "Europe/Berlin" }).next();
  });

  bench("croner", () => {
    for (let step = 0; step < STEPS; step += 1)
      new Cron("0 9 * * 1-5", { timezone: "Europe/Berlin", paused: true }).nextRun(new Date(START));
  });
});
