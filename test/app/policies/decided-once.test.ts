import { describe, expect, it } from "vitest";
import { sweep } from "../../../lib/app/engine/sweep.ts";
import { visitRows } from "../../../lib/app/engine/visit-rows.ts";
import { plusMs } from "../../../lib/core/instant.ts";
import { NOON } from "../../support/occurrences.ts";
import { clockTime, minutesAfter, SECOND, type Stage, stageWith } from "./stage.ts";
import { frozenAtEachWrite, lookFrozenAt, stoppedAtEachWrite } from "./struck-looks.ts";

const START = minutesAfter(NOON, -2);
const BACK = minutesAfter(NOON, 42);

/** A stage at the end of an outage from 12:00 to 12:42; nobody has looked yet. */
async function afterOutage(policy: string, given: Record<string, unknown> = {}): Promise<Stage> {
  const item = { scheduleId: "a", rate: "5 minutes", misfire: { policy, graceSeconds: 240 }, ...given };
  const stage = await stageWith(item, { start: START });
  await stage.playUntil(NOON);
  stage.dispatching = false;
  await stage.playUntil(BACK);
  return stage;
}

const EXPECTED: Record<string, string[]> = {
  coalesce: ["12:00", "12:40", "12:45"],
  all: ["12:00", "12:05", "12:10", "12:15", "12:20", "12:25", "12:30", "12:35", "12:40", "12:45"],
  skip: ["12:00", "12:40", "12:45"],
};
const POLICIES = Object.keys(EXPECTED);

/** What must hold whoever crashed: each firing that the policy lets run ran once, and the chain goes on. */
function expectPolicyKept(stage: Stage, policy: string): void {
  expect(stage.ran().map(clockTime).toSorted()).toEqual(EXPECTED[policy]);
  expect(
    stage
      .rows()
      .filter(({ status }) => status === "PENDING")
      .map(({ firing }) => clockTime(firing)),
  ).toEqual(["12:50"]);
  const decisions = stage.rows().flatMap(({ misfire }) => (misfire === undefined ? [] : [misfire]));
  expect(new Set(decisions.map((decision) => JSON.stringify(decision))).size).toBe(1);
}

describe.each(POLICIES)("a misfire under %s is decided once", (policy) => {
  it.each(["before", "after"] as const)(
    "where the dispatcher stops %s any of its writes, and another goes on",
    async (when) => {
      const stops = await stoppedAtEachWrite(
        when,
        () => afterOutage(policy),
        async (stage) => {
          // A minute on, more has been missed: the decision stands nonetheless.
          await stage.playUntil(plusMs(BACK, 61 * SECOND));
          stage.dispatching = true;
          await stage.playUntil(minutesAfter(NOON, 47));
          expectPolicyKept(stage, policy);
        },
      );
      expect(stops).toBeGreaterThan(4);
    },
  );

  it("where one dispatcher is frozen before any of its writes while another does it all", async () => {
    const freezes = await frozenAtEachWrite(
      () => afterOutage(policy),
      async ({ stage, thaw }) => {
        stage.dispatching = true;
        await stage.playUntil(plusMs(BACK, 61 * SECOND));
        await thaw();
        await stage.playUntil(minutesAfter(NOON, 47));
        expectPolicyKept(stage, policy);
      },
    );
    expect(freezes).toBeGreaterThan(4);
  });
});

describe("two dispatchers near the edge of a schedule's grace", () => {
  const GRACE = 120 * SECOND;

  async function atTheEdge(): Promise<Stage> {
    const stage = await stageWith(
      { scheduleId: "a", rate: "5 minutes", misfire: { policy: "skip" } },
      { start: START },
    );
    stage.dispatching = false;
    await stage.playUntil(plusMs(NOON, GRACE));
    return stage;
  }

  it("run it or skip it, but not both, where one was within and the other past it", async () => {
    for (let n = 1; n <= 3; n += 1) {
      const stage = await atTheEdge();
      const look = await lookFrozenAt(stage, n);
      stage.dispatching = true;
      await stage.playUntil(plusMs(NOON, GRACE + 1));
      await look?.thaw();
      await stage.playUntil(minutesAfter(NOON, 6));
      const row = stage.world.row("a", NOON);
      const ranAtNoon = stage.ran().filter((firing) => firing === row.firing).length;
      expect([row.status, ranAtNoon]).toEqual(row.status === "SKIPPED" ? ["SKIPPED", 0] : ["SUCCEEDED", 1]);
      expect(stage.ran().map(clockTime)).toContain("12:05");
    }
  });

  it("are not led astray by an index that shows the head as it was before the decision", async () => {
    const stage = await afterOutage("coalesce");
    const { rows: stale } = await stage.world.engine.occurrences.due({ shard: 0, until: BACK, limit: 10 });
    await stage.look();
    expect(await visitRows(stage.world.engine, stale)).toEqual({ moved: 0 });
    stage.dispatching = true;
    await stage.playUntil(minutesAfter(NOON, 47));
    await visitRows(stage.world.engine, stale);
    await stage.rest();
    expectPolicyKept(stage, "coalesce");
  });
});

describe.each(POLICIES)("a misfire under %s of a chain with more than one head", (policy) => {
  it("is decided by the oldest, also where sweeps went on during the outage", async () => {
    const stage = await stageWith(
      { scheduleId: "a", rate: "5 minutes", misfire: { policy, graceSeconds: 240 } },
      { start: START },
    );
    await stage.playUntil(NOON);
    stage.dispatching = false;
    for (const minute of [6, 18, 42]) {
      await stage.playUntil(minutesAfter(NOON, minute));
      await sweep(stage.world.engine, stage.world.bus, new AbortController().signal);
    }
    expect(stage.rows().filter(({ status }) => status === "PENDING").length).toBeGreaterThan(1);
    stage.dispatching = true;
    await stage.playUntil(minutesAfter(NOON, 47));
    expectPolicyKept(stage, policy);
  });

  it("waits for the next look where the rows before it cannot be read", async () => {
    let readable = true;
    const item = { scheduleId: "a", rate: "5 minutes", misfire: { policy, graceSeconds: 240 } };
    const stage = await stageWith(item, {
      start: START,
      occurrences: (real) => ({
        history: async (query) => {
          if (!readable) throw new Error("throttled");
          return real.history(query);
        },
      }),
    });
    await stage.playUntil(NOON);
    stage.dispatching = false;
    await stage.playUntil(BACK);
    readable = false;
    expect(await stage.look()).toBe(0);
    expect(stage.world.counts.get("StoreFailures")).toBe(1);
    readable = true;
    stage.dispatching = true;
    await stage.playUntil(minutesAfter(NOON, 47));
    expectPolicyKept(stage, policy);
  });
});
