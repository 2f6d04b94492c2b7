import { describe, expect, it } from "vitest";
import { InvalidCursorError } from "../../lib/app/errors.ts";
import type { ScheduleItem, ScheduleStore } from "../../lib/app/ports.ts";
import type { ScheduleStatus } from "../../lib/core/schedule.ts";
import { NOON } from "../support/occurrences.ts";
import type { Stores } from "./stores.ts";

const NIGHTLY: ScheduleItem = {
  scheduleId: "nightly",
  cron: "0 2 * * *",
  timezone: "Europe/Berlin",
  enabled: true,
  payload: { list: [1, 2.5, -3e-7, "", null, true, { deep: [] }], unicode: "🎉\u0000" },
  retry: { maxAttempts: 3 },
  tags: {},
  timeoutSeconds: 30,
  group: "tenant-1",
};
const PAUSED = { paused: { at: "2026-11-29T12:00:00.000Z", by: "ops" }, resumedAt: "2026-11-28T12:00:00.000Z" };
const ACTIVE: ScheduleStatus = { state: "ACTIVE", version: "v1", since: NOON };
const SYSTEM = { ...PAUSED, status: { state: "PAUSED", version: "v0", since: "2026-11-29T12:00:00.000Z" } };

const read = async (store: ScheduleStore, scheduleId = "nightly") => {
  const [verdict] = await store.read([scheduleId]);
  return verdict?.kind === "found" ? verdict.row : verdict?.kind;
};

async function listed(store: ScheduleStore, query: { limit: number; group?: string }): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < 100; pages += 1) {
    const page = await store.list({ ...query, ...(cursor !== undefined && { cursor }) });
    ids.push(...page.rows.map(({ scheduleId }) => scheduleId));
    cursor = page.cursor;
    if (cursor === undefined) return ids.sort();
  }
  throw new Error("the pages never end");
}

/** What every schedule store must do: declared once, run on each adapter in worlds of each test's own. */
export function scheduleStoreContract(name: string, newStores: () => Promise<Stores>): void {
  describe(`schedule store: ${name}`, () => {
    const open = async (...items: ScheduleItem[]): Promise<Stores> => {
      const stores = await newStores();
      for (const item of items) await stores.putItem(item);
      return stores;
    };

    it("keeps a definition to the letter", async () => {
      const { schedules } = await open();
      expect(await schedules.put(NIGHTLY, "any")).toBe("put");
      expect(await read(schedules)).toEqual(NIGHTLY);
    });

    it("keeps a definition of a key alone", async () => {
      const { schedules } = await open();
      expect(await schedules.put({ scheduleId: "bare" }, "absent")).toBe("put");
      expect(await read(schedules, "bare")).toEqual({ scheduleId: "bare" });
    });

    it("replaces the author's attributes and keeps what others wrote", async () => {
      const { schedules } = await open({ ...NIGHTLY, ...SYSTEM, unknown: "kept" });
      const edited = { scheduleId: "nightly", rate: "5 minutes", paused: "not the author's to say" };
      expect(await schedules.put(edited, "any")).toBe("put");
      expect(await read(schedules)).toEqual({ scheduleId: "nightly", rate: "5 minutes", ...SYSTEM, unknown: "kept" });
    });

    it("creates only where nothing stands, when told so", async () => {
      const { schedules } = await open(NIGHTLY);
      expect(await schedules.put({ scheduleId: "nightly", rate: "1 hour" }, "absent")).toBe("refused");
      expect(await read(schedules)).toEqual(NIGHTLY);
    });

    describe("put in the place of what was read", () => {
      const edited = { ...NIGHTLY, cron: "0 3 * * *" };

      it("replaces the definition, whatever others wrote meanwhile", async () => {
        const { schedules } = await open({ ...NIGHTLY, ...SYSTEM });
        expect(await schedules.put(edited, { asRead: NIGHTLY })).toBe("put");
        expect(await read(schedules)).toEqual({ ...edited, ...SYSTEM });
      });

      const { timezone: _, ...withoutTimezone } = NIGHTLY;
      for (const [title, now] of [
        ["edited", { ...NIGHTLY, cron: "0 4 * * *" }],
        ["given another attribute", { ...NIGHTLY, jitterSeconds: 5 }],
        ["rid of an attribute", withoutTimezone],
        ["edited deep in its payload", { ...NIGHTLY, payload: { list: [] } }],
      ] as const)
        it(`leaves a definition that was ${title} meanwhile`, async () => {
          const { schedules } = await open(now);
          expect(await schedules.put(edited, { asRead: NIGHTLY })).toBe("refused");
          expect(await read(schedules)).toEqual(now);
        });

      it("does not revive a deleted schedule", async () => {
        const { schedules } = await open();
        expect(await schedules.put(edited, { asRead: NIGHTLY })).toBe("refused");
        expect(await read(schedules)).toBe("missing");
      });

      it("lets one of several editors win who read the same", async () => {
        const { schedules } = await open(NIGHTLY);
        const editors = Array.from({ length: 5 }, (_, index) => ({ ...NIGHTLY, cron: `0 ${index + 10} * * *` }));
        const verdicts = await Promise.all(editors.map((mine) => schedules.put(mine, { asRead: NIGHTLY })));
        expect(verdicts.filter((verdict) => verdict === "put")).toHaveLength(1);
        expect(await read(schedules)).toEqual(editors[verdicts.indexOf("put")]);
      });
    });

    it("answers each read in order, says what is missing, and reads one id twice", async () => {
      const items = Array.from({ length: 120 }, (_, index) => ({
        scheduleId: `s-${index}`,
        cron: `${index % 60} * * * *`,
      }));
      const { schedules } = await open(...items);
      const ids = [...items.map(({ scheduleId }) => scheduleId), "nobody", "s-0"];
      const verdicts = await schedules.read(ids);
      expect(verdicts).toEqual([
        ...items.map((row) => ({ kind: "found", row })),
        { kind: "missing" },
        { kind: "found", row: items[0] },
      ]);
    });

    it("lists every schedule, page by page, and one group's by its index", async () => {
      const groups = ["a", "b", undefined, "a", "a"];
      const items = groups.map((group, index) => ({ scheduleId: `s-${index}`, ...(group !== undefined && { group }) }));
      const { schedules } = await open(...items);
      expect(await listed(schedules, { limit: 2 })).toEqual(["s-0", "s-1", "s-2", "s-3", "s-4"]);
      expect(await listed(schedules, { limit: 2, group: "a" })).toEqual(["s-0", "s-3", "s-4"]);
      expect(await listed(schedules, { limit: 2, group: "nobody" })).toEqual([]);
    });

    it("takes no cursor for one that names no position of its table", async () => {
      const { schedules } = await open(NIGHTLY);
      const strange = Buffer.from('{"shard":{"N":"1"}}').toString("base64url");
      for (const cursor of ["nonsense", strange])
        await expect(schedules.list({ limit: 1, cursor })).rejects.toThrow(InvalidCursorError);
    });

    it("removes a schedule once", async () => {
      const { schedules } = await open(NIGHTLY);
      expect(await schedules.remove("nightly")).toBe("removed");
      expect(await schedules.remove("nightly")).toBe("missing");
      expect(await read(schedules)).toBe("missing");
    });

    describe("setStatus", () => {
      const written = { state: "ACTIVE", version: "v1", since: "2026-11-29T12:00:00.000Z" };

      it("writes where the definition is as it was read, whatever the status was", async () => {
        const { schedules } = await open({ ...NIGHTLY, ...SYSTEM });
        const asRead = { ...NIGHTLY, ...PAUSED };
        expect(await schedules.setStatus(asRead, { ...ACTIVE, warnings: ["tag: unread"] })).toBe("written");
        expect(await read(schedules)).toEqual({ ...asRead, status: { ...written, warnings: ["tag: unread"] } });
        expect(await schedules.setStatus(asRead, { state: "INVALID", since: NOON, problem: "cron: no" })).toBe(
          "written",
        );
        expect(await read(schedules)).toMatchObject({ status: { state: "INVALID", problem: "cron: no" } });
      });

      it("does not revive a deleted schedule", async () => {
        const { schedules } = await open();
        expect(await schedules.setStatus(NIGHTLY, ACTIVE)).toBe("refused");
        expect(await read(schedules)).toBe("missing");
      });

      const { timezone: _, ...withoutTimezone } = NIGHTLY;
      for (const [title, now] of [
        ["edited", { ...NIGHTLY, cron: "0 3 * * *" }],
        ["given another attribute", { ...NIGHTLY, jitterSeconds: 5 }],
        ["rid of an attribute", withoutTimezone],
        ["paused", { ...NIGHTLY, paused: true }],
        ["resumed", { ...NIGHTLY, resumedAt: "2026-11-29T12:00:00.000Z" }],
      ] as const)
        it(`says nothing of a schedule that was ${title} meanwhile`, async () => {
          const { schedules } = await open(now);
          expect(await schedules.setStatus(NIGHTLY, ACTIVE)).toBe("refused");
          expect(await read(schedules)).toEqual(now);
        });
    });
  });
}
