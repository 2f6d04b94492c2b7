import { describe, expect, it } from "vitest";
import { MalformedRowError, StoreError } from "../../../lib/app/errors.ts";
import type { OccurrenceStore } from "../../../lib/app/ports.ts";
import { type Instant, plusMs, toIso } from "../../../lib/core/instant.ts";
import type { OccurrenceKey } from "../../../lib/core/occurrence.ts";
import { anOccurrence, NOON } from "../../support/occurrences.ts";
import { clockTime, MINUTE, minutesAfter, SECOND, type Stage, stageWith, story } from "./stage.ts";

const START = plusMs(NOON, -10 * SECOND);

/** A store that reads no row at `instant`, as DynamoDB's adapter does with one that somebody else wrote. */
const unreadableAt =
  (instant: Instant) =>
  (real: OccurrenceStore): Partial<OccurrenceStore> => {
    const isIt = ({ firing }: OccurrenceKey) => firing === toIso(instant);
    return {
      read: async (keys) =>
        (await real.read(keys)).map((verdict) =>
          verdict.kind === "found" && isIt(verdict.row)
            ? { kind: "failed", error: new MalformedRowError(toIso(instant), []) }
            : verdict,
        ),
      history: async (query) => {
        const page = await real.history(query);
        return { ...page, rows: page.rows.filter((row) => !isIt(row)) };
      },
    };
  };

/** A stage at noon on which a row stands at 12:02 that nobody can read. */
async function withUnreadableRow(given: Record<string, unknown>): Promise<Stage> {
  const at = minutesAfter(NOON, 2);
  const item = { scheduleId: "a", rate: "1 minute", ...given };
  const stage = await stageWith(item, { start: START, occurrences: unreadableAt(at) });
  const { dueAt: _, ...row } = anOccurrence({ scheduleId: "a", firing: toIso(at), scheduledFor: at });
  await stage.world.store.occurrences.insert([row]);
  await stage.playUntil(NOON);
  return stage;
}

const ran = (stage: Stage) => stage.ran().map(clockTime);

describe("a row that nobody can read", () => {
  it("does not hold up the chain behind it", async () => {
    const stage = await withUnreadableRow({});
    await stage.playUntil(minutesAfter(NOON, 4));
    expect(ran(stage)).toEqual(["12:00", "12:01", "12:03", "12:04"]);
  });

  it("does not hold up what is caught up with one by one", async () => {
    const stage = await withUnreadableRow({ overlap: "wait", misfire: { policy: "all" } });
    stage.dispatching = false;
    await stage.playUntil(plusMs(NOON, 5 * MINUTE + 30 * SECOND));
    stage.dispatching = true;
    await stage.playUntil(minutesAfter(NOON, 7));
    expect(ran(stage)).toEqual(["12:00", "12:01", "12:03", "12:04", "12:05", "12:06", "12:07"]);
  });

  it("is told of where it has the turn that a firing waits for", async () => {
    const stage = await withUnreadableRow({ overlap: "wait" });
    const { occurrences } = stage.world.engine;
    const [gate] = await occurrences.readGates(["a"]);
    const asRead = gate?.kind === "found" ? gate.row : undefined;
    const holder = toIso(minutesAfter(NOON, 2));
    await occurrences.passGates([{ scheduleId: "a", asRead, holder, expiresAtSeconds: NOON / 1000 + 86_400 }]);
    stage.dispatching = false;
    await stage.playUntil(minutesAfter(NOON, 1));
    expect(await stage.look()).toBe(0);
    expect(story(stage.rows())).toContain("12:01 PENDING");
    expect(stage.world.logs.at(-1)).toContain("the run before one could not be read");
  });
});

describe("a row that cannot be read just now", () => {
  it("is waited for by the firing before it", async () => {
    let fails = true;
    const stage = await stageWith(
      { scheduleId: "a", rate: "1 minute" },
      {
        start: START,
        occurrences: (real) => ({
          read: async (keys) =>
            fails ? keys.map(() => ({ kind: "failed", error: new StoreError("throttled") })) : real.read(keys),
        }),
      },
    );
    const at = minutesAfter(NOON, 1);
    await stage.world.store.occurrences.insert([
      anOccurrence({ scheduleId: "a", firing: toIso(at), scheduledFor: at, dueAt: at }),
    ]);
    stage.dispatching = false;
    await stage.playUntil(NOON);
    expect(await stage.look()).toBe(0);
    fails = false;
    expect(await stage.look()).toBe(1);
  });
});
