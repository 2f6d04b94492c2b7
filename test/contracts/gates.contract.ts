import { describe, expect, it } from "vitest";
import type { Gate, OccurrenceStore } from "../../lib/app/ports.ts";
import { plusMs, toIso } from "../../lib/core/instant.ts";
import { anOccurrence, NOON } from "../support/occurrences.ts";
import type { Stores } from "./stores.ts";

const firing = (minute: number) => toIso(plusMs(NOON, minute * 60_000));
const passage = (scheduleId: string, asRead: Gate | undefined, minute: number) => ({
  scheduleId,
  asRead,
  holder: firing(minute),
  expiresAtSeconds: 1_800_000_000 + minute,
});

async function gateOf(store: OccurrenceStore, scheduleId: string): Promise<Gate | string | undefined> {
  const [verdict] = await store.readGates([scheduleId]);
  return verdict?.kind === "found" ? verdict.row : verdict?.kind;
}

/** What the gates of schedules whose runs must not overlap must do: declared once, run on each adapter. */
export function gatesContract(name: string, newStores: () => Promise<Stores>): void {
  describe(`gates: ${name}`, () => {
    const open = async (): Promise<OccurrenceStore> => (await newStores()).occurrences;

    it("are missing until somebody passes, and name the one who did", async () => {
      const store = await open();
      expect(await gateOf(store, "a")).toBe("missing");
      expect(await store.passGates([passage("a", undefined, 0)])).toEqual([{ kind: "passed" }]);
      expect(await gateOf(store, "a")).toEqual({ holder: firing(0), turns: 1 });
    });

    it("count each turn, also one holder's second", async () => {
      const store = await open();
      await store.passGates([passage("a", undefined, 0)]);
      expect(await store.passGates([passage("a", { holder: firing(0), turns: 1 }, 0)])).toEqual([{ kind: "passed" }]);
      expect(await store.passGates([passage("a", { holder: firing(0), turns: 2 }, 1)])).toEqual([{ kind: "passed" }]);
      expect(await gateOf(store, "a")).toEqual({ holder: firing(1), turns: 3 });
    });

    it.each([
      ["as missing", undefined],
      ["with another holder", { holder: firing(7), turns: 2 }],
      ["before its last turn", { holder: firing(0), turns: 1 }],
      ["after a turn that was never taken", { holder: firing(0), turns: 3 }],
    ])("refuse who saw the gate %s", async (_, asRead) => {
      const store = await open();
      await store.passGates([passage("a", undefined, 0)]);
      await store.passGates([passage("a", { holder: firing(0), turns: 1 }, 0)]);
      expect(await store.passGates([passage("a", asRead, 5)])).toEqual([{ kind: "refused" }]);
      expect(await gateOf(store, "a")).toEqual({ holder: firing(0), turns: 2 });
    });

    it("refuse who saw a gate where there is none", async () => {
      const store = await open();
      expect(await store.passGates([passage("a", { holder: firing(0), turns: 1 }, 1)])).toEqual([{ kind: "refused" }]);
      expect(await gateOf(store, "a")).toBe("missing");
    });

    it.each([
      ["the first", undefined],
      ["a later", { holder: firing(0), turns: 1 }],
    ])("give %s turn that ten want at once to one of them", async (_, asRead) => {
      const store = await open();
      if (asRead !== undefined) await store.passGates([passage("a", undefined, 0)]);
      const verdicts = await Promise.all(
        Array.from({ length: 10 }, (_unused, minute) => store.passGates([passage("a", asRead, minute + 1)])),
      );
      const passed = verdicts.flat().flatMap(({ kind }, index) => (kind === "passed" ? [index + 1] : []));
      expect(passed).toHaveLength(1);
      expect(verdicts.flat().filter(({ kind }) => kind === "refused")).toHaveLength(9);
      expect(await gateOf(store, "a")).toEqual({ holder: firing(passed[0] ?? 0), turns: asRead === undefined ? 1 : 2 });
    });

    it("answer for each of many schedules on its own, in order", async () => {
      const store = await open();
      const names = Array.from({ length: 60 }, (_, index) => `s${index}`);
      await store.passGates(names.filter((_, index) => index % 3 === 0).map((id) => passage(id, undefined, 0)));
      const verdicts = await store.passGates(names.map((id) => passage(id, undefined, 1)));
      expect(verdicts.map(({ kind }) => kind)).toEqual(
        names.map((_, index) => (index % 3 === 0 ? "refused" : "passed")),
      );
      const gates = await store.readGates(names);
      expect(gates.map((gate) => (gate.kind === "found" ? gate.row.holder : gate.kind))).toEqual(
        names.map((_, index) => firing(index % 3 === 0 ? 0 : 1)),
      );
    });

    it("are no rows of the schedule's history, and fall due never", async () => {
      const store = await open();
      await store.insert([anOccurrence({ scheduleId: "a" })]);
      await store.passGates([passage("a", undefined, 0)]);
      const { rows } = await store.history({ scheduleId: "a", newestFirst: false, limit: 10 });
      expect(rows.map((row) => row.firing)).toEqual([firing(0)]);
      const due = await store.due({ shard: 0, until: plusMs(NOON, 86_400_000), limit: 10 });
      expect(due.rows).toHaveLength(1);
    });
  });

  describe(`where a sweep stopped: ${name}`, () => {
    it("is kept, replaced and forgotten", async () => {
      const { occurrences } = await newStores();
      expect(await occurrences.readSweepCursor()).toBeUndefined();
      for (const cursor of ["first", "second"]) {
        await occurrences.writeSweepCursor(cursor);
        expect(await occurrences.readSweepCursor()).toBe(cursor);
      }
      await occurrences.writeSweepCursor(undefined);
      await occurrences.writeSweepCursor(undefined);
      expect(await occurrences.readSweepCursor()).toBeUndefined();
    });
  });

  describe(`removing a schedule as it was read: ${name}`, () => {
    const item = { scheduleId: "once", at: "2026-11-29T12:00:00", deleteAfterCompletion: true, payload: { n: 1 } };

    it("removes it, also where its status was written meanwhile", async () => {
      const { schedules, putItem } = await newStores();
      await putItem(item);
      await schedules.setStatus(item, { state: "ENDED", since: NOON });
      expect(await schedules.removeAsRead(item)).toBe("removed");
      expect(await schedules.read(["once"])).toEqual([{ kind: "missing" }]);
    });

    it.each([
      ["put again with another time", { ...item, at: "2026-11-30T12:00:00" }],
      ["given another payload", { ...item, payload: { n: 2 } }],
      ["paused", { ...item, paused: true }],
    ])("leaves one that was %s", async (_, standing) => {
      const { schedules, putItem } = await newStores();
      await putItem(standing);
      expect(await schedules.removeAsRead(item)).toBe("refused");
      expect(await schedules.read(["once"])).toEqual([{ kind: "found", row: standing }]);
    });

    it("refuses one that is gone", async () => {
      const { schedules } = await newStores();
      expect(await schedules.removeAsRead(item)).toBe("refused");
    });
  });
}
