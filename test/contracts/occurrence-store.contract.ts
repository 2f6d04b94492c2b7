import { describe, expect, it } from "vitest";
import { applyChange } from "../../lib/adapters/memory/apply.ts";
import { InvalidCursorError } from "../../lib/app/errors.ts";
import type { OccurrenceStore, OccurrenceWrite, Page } from "../../lib/app/ports.ts";
import { dueAtIs, statusIn, statusIs, tokenIs } from "../../lib/core/guard.ts";
import { plusMs } from "../../lib/core/instant.ts";
import type { Occurrence, OccurrenceStatus } from "../../lib/core/occurrence.ts";
import { DEFAULT_RETRY } from "../../lib/core/retry.ts";
import { anOccurrence, NOON } from "../support/occurrences.ts";
import type { Stores } from "./stores.ts";
import { TRANSITION_CASES } from "./transition-cases.ts";

const at = (seconds: number) => plusMs(NOON, seconds * 1_000);
const keysOf = (rows: readonly { readonly firing: string }[]) => rows.map(({ firing }) => firing);

/** Rows of one schedule, a minute apart. */
const minutes = (count: number, given: Partial<Occurrence> = {}): Occurrence[] =>
  Array.from({ length: count }, (_, index) => anOccurrence({ scheduledFor: at(60 * index), ...given }));

async function allPages<Row>(next: (cursor?: string) => Promise<Page<Row>>): Promise<Row[]> {
  const rows: Row[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < 100; pages += 1) {
    const page = await next(cursor);
    rows.push(...page.rows);
    cursor = page.cursor;
    if (cursor === undefined) return rows;
  }
  throw new Error("the pages never end");
}

const withCursor = (cursor: string | undefined) => (cursor === undefined ? {} : { cursor });

async function stored(store: OccurrenceStore, key: Occurrence): Promise<Occurrence | undefined> {
  const [verdict] = await store.read([key]);
  return verdict?.kind === "found" ? verdict.row : undefined;
}

/** What became of each transition, under its title. */
const byTitle = (outcomes: readonly unknown[]) =>
  Object.fromEntries(TRANSITION_CASES.map(({ title }, index) => [title, outcomes[index]]));

const claim = (row: Occurrence, owner: string): OccurrenceWrite => ({
  key: row,
  guard: [statusIs("PENDING"), tokenIs(row.fencingToken)],
  change: { set: { status: "DISPATCHED", owner }, add: { attempts: 1, fencingToken: 1 } },
});

/** What every occurrence store must do: declared once, run on each adapter in worlds of each test's own. */
export function occurrenceStoreContract(name: string, newStores: () => Promise<Stores>): void {
  describe(`occurrence store: ${name}`, () => {
    const open = async (...rows: Occurrence[]): Promise<Stores> => {
      const stores = await newStores();
      await stores.occurrences.insert(rows);
      return stores;
    };

    describe("insert", () => {
      it("keeps a row to the letter", async () => {
        const row = anOccurrence({
          kind: "backfill",
          suspect: true,
          misfire: { policy: "all", count: 3, more: false, from: at(-60), to: at(60) },
          log: [
            { token: 1, attempt: 1, startedAt: at(1), endedAt: at(2), error: { name: "E", message: "m" }, logs: "l" },
          ],
          lastError: { name: "E", message: "" },
          output: '{"a":1.50}',
          payload: '{"quote":"\\"","nul":"\\u0000","emoji":"🎉"}',
          expiresAtSeconds: 1_800_000_000,
        });
        const { occurrences } = await open(row);
        expect(await stored(occurrences, row)).toEqual(row);
      });

      it("answers each row in order, and leaves one that stands as it is", async () => {
        const rows = minutes(60);
        const standing = rows[30] ?? anOccurrence();
        const { occurrences } = await open(standing);
        const verdicts = await occurrences.insert(rows.map((row) => ({ ...row, job: "another" })));
        expect(verdicts.map(({ kind }) => kind)).toEqual(
          rows.map((_, index) => (index === 30 ? "exists" : "inserted")),
        );
        expect(await stored(occurrences, standing)).toEqual(standing);
      });

      it("inserts the first of two rows with one key", async () => {
        const { occurrences } = await open();
        const [first, second] = [anOccurrence({ job: "first" }), anOccurrence({ job: "second" })];
        expect(await occurrences.insert([first, second])).toEqual([{ kind: "inserted" }, { kind: "exists" }]);
        expect(await stored(occurrences, first)).toEqual(first);
      });
    });

    describe("write", () => {
      it("applies every transition of the machine", async () => {
        const { occurrences } = await open(...TRANSITION_CASES.map(({ row }) => row));
        const verdicts = await occurrences.write(TRANSITION_CASES);
        const expected = TRANSITION_CASES.map(({ row, change }) => applyChange(row, change));
        expect(byTitle(verdicts)).toEqual(byTitle(expected.map((row) => ({ kind: "applied", row }))));
        const reads = await occurrences.read(TRANSITION_CASES.map(({ row }) => row));
        expect(byTitle(reads)).toEqual(byTitle(expected.map((row) => ({ kind: "found", row }))));
      });

      it("refuses every transition of the machine once the token has moved on", async () => {
        const moved = TRANSITION_CASES.map(({ row }) => ({ ...row, fencingToken: row.fencingToken + 1 }));
        const { occurrences } = await open(...moved);
        const verdicts = await occurrences.write(TRANSITION_CASES);
        expect(byTitle(verdicts)).toEqual(byTitle(moved.map(() => ({ kind: "refused" }))));
        const reads = await occurrences.read(moved);
        expect(byTitle(reads)).toEqual(byTitle(moved.map((row) => ({ kind: "found", row }))));
      });

      it("never creates a row", async () => {
        const { occurrences } = await open();
        expect(await occurrences.write([claim(anOccurrence(), "a")])).toEqual([{ kind: "refused" }]);
        expect(await stored(occurrences, anOccurrence())).toBeUndefined();
      });

      it("judges each of many on its own, in order", async () => {
        const rows = minutes(60);
        const { occurrences } = await open(...rows);
        const verdicts = await occurrences.write(
          rows.map((row, index) => claim({ ...row, fencingToken: index % 3 === 0 ? 7 : 0 }, `owner-${index}`)),
        );
        expect(verdicts.map((verdict) => (verdict.kind === "applied" ? verdict.row.owner : verdict.kind))).toEqual(
          rows.map((_, index) => (index % 3 === 0 ? "refused" : `owner-${index}`)),
        );
      });

      it("runs two writes of one key one after the other", async () => {
        const row = anOccurrence();
        const { occurrences } = await open(row);
        const verdicts = await occurrences.write([
          claim(row, "a"),
          claim(row, "b"),
          claim({ ...row, fencingToken: 1 }, "c"),
        ]);
        expect(verdicts.map(({ kind }) => kind)).toEqual(["applied", "refused", "refused"]);
        expect(await stored(occurrences, row)).toMatchObject({ owner: "a", attempts: 1, fencingToken: 1 });
      });

      it("gives a claim that twenty want at once to one of them", async () => {
        const row = anOccurrence();
        const { occurrences } = await open(row);
        const verdicts = await Promise.all(
          Array.from({ length: 20 }, (_, index) => occurrences.write([claim(row, `owner-${index}`)])),
        );
        const winners = verdicts.flat().flatMap((verdict) => (verdict.kind === "applied" ? [verdict.row.owner] : []));
        expect(winners).toHaveLength(1);
        expect(verdicts.flat().filter(({ kind }) => kind === "refused")).toHaveLength(19);
        expect(await stored(occurrences, row)).toMatchObject({ owner: winners[0], attempts: 1, fencingToken: 1 });
      });
    });

    it("reads rows in the order asked for, also a key twice, and says which are missing", async () => {
      const rows = minutes(120);
      const { occurrences } = await open(...rows);
      const wanted = [...rows].reverse();
      const missing = anOccurrence({ scheduleId: "nobody" });
      const verdicts = await occurrences.read([...wanted, missing, ...wanted.slice(0, 1)]);
      expect(verdicts).toEqual([
        ...wanted.map((row) => ({ kind: "found", row })),
        { kind: "missing" },
        { kind: "found", row: wanted[0] },
      ]);
    });

    describe("due", () => {
      it("gives a shard's rows up to an instant, oldest first, however old, page by page", async () => {
        const rows = minutes(7);
        const ancient = anOccurrence({ scheduleId: "ancient", dueAt: at(-1e9) });
        const { occurrences } = await open(...rows, ancient, anOccurrence({ scheduleId: "other-shard", shard: 3 }));
        const found = await allPages((cursor) =>
          occurrences.due({ shard: 0, until: at(5 * 60), limit: 2, ...withCursor(cursor) }),
        );
        expect(found.map(({ dueAt }) => dueAt)).toEqual([at(-1e9), ...rows.slice(0, 6).map(({ dueAt }) => dueAt)]);
      });

      it("shows what a claim decides on and nothing more", async () => {
        const row = anOccurrence({ status: "RETRYING", owner: "a", leaseUntil: at(1), suspect: true, attempts: 2 });
        const { occurrences } = await open(row);
        const { rows } = await occurrences.due({ shard: 0, until: NOON, limit: 10 });
        expect(rows[0]).toMatchObject({ occurrenceId: row.occurrenceId, owner: "a", suspect: true, queue: "default" });
        expect(rows[0]).not.toHaveProperty("payload");
      });

      it("no longer has a row whose due time was removed", async () => {
        const row = anOccurrence();
        const { occurrences } = await open(row);
        await occurrences.write([
          { key: row, guard: [statusIs("PENDING")], change: { set: { status: "SKIPPED" }, remove: ["dueAt"] } },
        ]);
        expect((await occurrences.due({ shard: 0, until: NOON, limit: 10 })).rows).toEqual([]);
      });

      it("refuses a cursor that no page gave", async () => {
        const { occurrences } = await open();
        await expect(occurrences.due({ shard: 0, until: NOON, limit: 1, cursor: "nonsense" })).rejects.toThrow(
          InvalidCursorError,
        );
      });
    });

    describe("history", () => {
      const all = (store: OccurrenceStore, query: Partial<Parameters<OccurrenceStore["history"]>[0]> = {}) =>
        allPages((cursor) =>
          store.history({ scheduleId: "nightly", newestFirst: false, limit: 2, ...query, ...withCursor(cursor) }),
        );

      it("gives one schedule's rows by firing, either way", async () => {
        const rows = minutes(5);
        const { occurrences } = await open(...[...rows].reverse(), anOccurrence({ scheduleId: "nightly2" }));
        expect(await all(occurrences)).toEqual(rows);
        expect(await all(occurrences, { newestFirst: true })).toEqual([...rows].reverse());
      });

      it("keeps to inclusive bounds", async () => {
        const rows = minutes(5);
        const { occurrences } = await open(...rows);
        const [from, to] = [rows[1]?.firing ?? "", rows[3]?.firing ?? ""];
        expect(await all(occurrences, { from, to })).toEqual(rows.slice(1, 4));
        expect(await all(occurrences, { from })).toEqual(rows.slice(1));
        expect(await all(occurrences, { to })).toEqual(rows.slice(0, 4));
        expect(await all(occurrences, { from: to, to: from })).toEqual([]);
      });

      it("shows manual runs and never the system's own rows", async () => {
        const manual = anOccurrence({ firing: "manual#please", kind: "manual" });
        const internal = anOccurrence({ firing: "#gate" });
        const { occurrences } = await open(manual, internal, anOccurrence());
        expect(keysOf(await all(occurrences))).toEqual([anOccurrence().firing, manual.firing]);
        expect(keysOf(await all(occurrences, { from: "#" }))).toHaveLength(2);
        expect(await all(occurrences, { to: "#gate" })).toEqual([]);
      });

      it("filters by status", async () => {
        const statuses: OccurrenceStatus[] = ["PENDING", "SUCCEEDED", "FAILED", "SUCCEEDED"];
        const rows = minutes(4).map((row, index) => ({ ...row, status: statuses[index] ?? "PENDING" }));
        const { occurrences } = await open(...rows);
        expect(await all(occurrences, { statuses: ["SUCCEEDED", "FAILED"] })).toEqual(rows.slice(1));
      });
    });

    it("lists a shard's open dead letters as whole rows, newest first", async () => {
      const dead = (index: number, shard: number) =>
        anOccurrence({
          scheduledFor: at(60 * index),
          status: "DEAD_LETTERED",
          deadLetterShard: shard,
          deadLetteredAt: at(1_000 - index),
          lastError: { name: "Error", message: `failure ${index}` },
        });
      const rows = [dead(0, 1), dead(1, 1), dead(2, 1)];
      const { occurrences } = await open(...[...rows].reverse(), dead(3, 2), anOccurrence({ scheduleId: "alive" }));
      const found = await allPages((cursor) => occurrences.deadLetters({ shard: 1, limit: 2, ...withCursor(cursor) }));
      expect(found).toEqual(rows);
    });

    it("counts a shard's open dead letters, and stops at the limit", async () => {
      const dead = { status: "FAILED", deadLetterShard: 1, deadLetteredAt: NOON } as const;
      const { occurrences } = await open(...minutes(3).map((row) => ({ ...row, ...dead })), anOccurrence());
      const count = (shard: number, limit: number) => occurrences.countDeadLetters({ shard, limit });
      expect([await count(1, 10), await count(1, 2), await count(0, 10)]).toEqual([3, 2, 0]);
    });

    describe("removeHead", () => {
      const head = anOccurrence();
      const schedule = {
        scheduleId: "nightly",
        cron: "0 12 * * *",
        payload: { list: [1, { deep: null }] },
        paused: true,
      };

      it("removes a head whose schedule is still as it was read, whatever its status says", async () => {
        const { occurrences, putItem } = await open(head);
        await putItem({ ...schedule, status: { state: "ACTIVE" } });
        expect(await occurrences.removeHead(head, schedule)).toBe("removed");
        expect(await stored(occurrences, head)).toBeUndefined();
      });

      it("removes a head whose schedule is still absent", async () => {
        const { occurrences } = await open(head);
        expect(await occurrences.removeHead(head, undefined)).toBe("removed");
      });

      const { paused: _, ...unpaused } = schedule;
      for (const [title, now] of [
        ["edited", { ...schedule, cron: "0 13 * * *" }],
        ["given another attribute", { ...schedule, timezone: "Europe/Berlin" }],
        ["edited deep in its payload", { ...schedule, payload: { list: [1, { deep: 1 }] } }],
        ["resumed", unpaused],
        ["resumed and paused again", { ...schedule, resumedAt: "2026-11-29T12:00:00.000Z" }],
      ] as const)
        it(`leaves the head where the schedule was ${title}`, async () => {
          const { occurrences, putItem } = await open(head);
          await putItem(now);
          expect(await occurrences.removeHead(head, schedule)).toBe("refused");
          expect(await stored(occurrences, head)).toEqual(head);
        });

      it("leaves the head where the schedule was deleted, or put meanwhile", async () => {
        const { occurrences, putItem } = await open(head);
        expect(await occurrences.removeHead(head, schedule)).toBe("refused");
        await putItem(schedule);
        expect(await occurrences.removeHead(head, undefined)).toBe("refused");
        expect(await stored(occurrences, head)).toEqual(head);
      });

      for (const [title, change] of [
        ["claimed", { status: "DISPATCHED", fencingToken: 1 }],
        ["claimed and released", { fencingToken: 1 }],
        ["deferred", { dueAt: at(60) }],
        ["made a backfill", { kind: "backfill" }],
      ] as const)
        it(`leaves a row that was ${title}`, async () => {
          const row = { ...head, ...change };
          const { occurrences } = await open(row);
          expect(await occurrences.removeHead(head, undefined)).toBe("refused");
          expect(await stored(occurrences, head)).toEqual(row);
        });
    });

    describe("remove", () => {
      it("removes rows by their guards, and answers each in order", async () => {
        const rows = minutes(60, { status: "SUCCEEDED", fencingToken: 3 });
        const moved = rows.map((row, index) => ({ ...row, fencingToken: index % 2 === 0 ? 3 : 4 }));
        const { occurrences } = await open(...moved);
        const absent = anOccurrence({ scheduleId: "nobody" });
        const verdicts = await occurrences.remove(
          [...rows, absent].map((key) => ({ key, guard: [statusIn(["SUCCEEDED", "FAILED"]), tokenIs(3)] })),
        );
        expect(verdicts).toEqual([
          ...rows.map((_, index) => ({ kind: index % 2 === 0 ? "removed" : "refused" })),
          { kind: "refused" },
        ]);
        const { rows: left } = await occurrences.history({ scheduleId: "nightly", newestFirst: false, limit: 100 });
        expect(left).toEqual(moved.filter(({ fencingToken }) => fencingToken === 4));
      });

      it("answers nothing for nothing", async () => {
        const { occurrences } = await open();
        expect(await occurrences.remove([])).toEqual([]);
      });
    });

    it("remembers the most shards ever in use", async () => {
      const { occurrences } = await open();
      expect(await occurrences.shardHighWater(4)).toBe(4);
      expect(await occurrences.shardHighWater(2)).toBe(4);
      expect(await occurrences.shardHighWater(16)).toBe(16);
      const atOnce = await Promise.all([20, 40, 30].map((shards) => occurrences.shardHighWater(shards)));
      expect(atOnce.every((count, index) => count >= ([20, 40, 30][index] ?? 0))).toBe(true);
      expect(await occurrences.shardHighWater(1)).toBe(40);
    });

    it("compares what is stored, not what was read", async () => {
      const row = anOccurrence({ retry: { ...DEFAULT_RETRY, jitter: false } });
      const { occurrences } = await open(row);
      const defer = (seen: number, dueAt: number): OccurrenceWrite => ({
        key: row,
        guard: [statusIs("PENDING"), dueAtIs(at(seen))],
        change: { set: { dueAt: at(dueAt) } },
      });
      expect((await occurrences.write([defer(0, 60)])).map(({ kind }) => kind)).toEqual(["applied"]);
      expect((await occurrences.write([defer(0, 30)])).map(({ kind }) => kind)).toEqual(["refused"]);
    });
  });
}
