import fc from "fast-check";
import { expect, test } from "vitest";
import { type DstPolicy, firingsBetween, parseTiming } from "../../lib/core/firing/index.ts";
import { instant } from "../../lib/core/instant.ts";
import { cronAround, cronShapes, momentOf, moments, policies } from "../core/firing/arbitraries.ts";
import { defaultPolicy, oracleFirings, wallClock } from "../core/firing/oracle.ts";

const CASES = 20_000;
/** The walk takes about half a minute on one core; the rest is for a machine that is busy with other things. */
const TIMEOUT_MS = 300_000;
const MINUTE_MS = 60_000;
/** Long enough for every gap and overlap of daylight saving, short enough to walk thousands of times. */
const WALK_MS = 150 * MINUTE_MS;
/** For expressions that fire within the minute, and for clocks that are not on whole minutes. */
const SHORT_WALK_MS = 30 * MINUTE_MS;
const MAX_FIRINGS = 10_000;

const iso = (at: number): string => new Date(at).toISOString();

test(
  `agrees with a walk over Intl.DateTimeFormat on ${CASES} expressions, zones and instants`,
  () => {
    let firings = 0;
    let resolved = 0;
    let impossible = 0;
    fc.assert(
      fc.property(moments, cronShapes, policies, fc.integer({ min: 0, max: 149 }), (moment, shapes, dst, lead) => {
        const at = momentOf(moment);
        const wall = wallClock(moment.zone, at);
        const { text, cron } = cronAround(shapes, wall);
        const fine = wall % MINUTE_MS !== 0 || cron.seconds.some(({ from, to }) => to > from);
        const walkMs = fine ? SHORT_WALK_MS : WALK_MS;
        const from = at - (lead % (walkMs / MINUTE_MS)) * MINUTE_MS;
        const policy = { ...defaultPolicy(cron), ...dst } satisfies DstPolicy;

        const parsed = parseTiming({ cron: text, timezone: moment.zone, dst });
        if (parsed.kind === "invalid") {
          // Random day and month fields may name a day that never comes; anything else would be an error of the parser.
          expect(parsed.problems, text).toEqual([
            { path: "cron", message: expect.stringContaining("must be able to fire") },
          ]);
          impossible += 1;
          return;
        }
        const found = firingsBetween(parsed.timing, instant(from), instant(from + walkMs), MAX_FIRINGS);
        const got = found.map(({ scheduledFor }) => iso(scheduledFor));
        const wanted = oracleFirings(cron, moment.zone, policy, from, from + walkMs).map(iso);
        firings += wanted.length;
        resolved += found.filter((firing) => firing.resolved !== undefined).length;
        if (got.join() === wanted.join()) return;
        const line = `"${text}" in ${moment.zone}, gap ${policy.gap}, repeated ${policy.repeated}, from ${iso(from)} for ${walkMs / MINUTE_MS} min`;
        expect(got.slice(0, 20), line).toEqual(wanted.slice(0, 20));
        expect(got.length, line).toBe(wanted.length);
      }),
      { numRuns: CASES },
    );
    // The walk proves something only if it meets firings, and changes of the clocks among them.
    expect(firings).toBeGreaterThan(CASES);
    expect(resolved).toBeGreaterThan(CASES / 20);
    expect(impossible).toBeLessThan(CASES / 20);
  },
  TIMEOUT_MS,
);
