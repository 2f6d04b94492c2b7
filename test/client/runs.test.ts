import { describe, expect, it } from "vitest";
import { InvalidArgumentError, keyOf, OccurrenceNotFoundError, OccurrenceStateError } from "../../lib/client/index.ts";
import { manualOccurrenceId } from "../../lib/core/ids.ts";
import { plusMs, toIso } from "../../lib/core/instant.ts";
import { formatKey, type Occurrence } from "../../lib/core/occurrence.ts";
import { anOccurrence, NOON } from "../support/occurrences.ts";
import { aDeadLetter } from "./deaths.ts";
import { createWorld } from "./world.ts";

const HOURLY = { scheduleId: "hourly", cron: "0 * * * *", payload: { to: "you" } };
const HOUR_MS = 3_600_000;

describe("run now", () => {
  it("inserts a run that is due at once, with an identity from the caller's key", async () => {
    const { client, now } = createWorld();
    await client.put(HOURLY);
    const { occurrence, created } = await client.runNow("hourly", { key: "ticket-7" });
    expect(created).toBe(true);
    expect(occurrence).toMatchObject({
      scheduleId: "hourly",
      firing: "manual#ticket-7",
      occurrenceId: manualOccurrenceId("hourly", "ticket-7"),
      kind: "manual",
      status: "PENDING",
      dueAt: now(),
      payload: '{"to":"you"}',
    });
  });

  it("answers the same key with the same run, whatever has become of it", async () => {
    const { client, store, pass } = createWorld();
    await client.put(HOURLY);
    const first = await client.runNow("hourly", { key: "k" });
    await client.occurrences.cancel(first.occurrence);
    pass(HOUR_MS);
    const again = await client.runNow("hourly", { key: "k", payload: { other: true } });
    expect(again.created).toBe(false);
    expect(again.occurrence).toMatchObject({ occurrenceId: first.occurrence.occurrenceId, status: "CANCELLED" });
    expect(store.allOccurrences()).toHaveLength(1);
  });

  it("runs a paused and a disabled schedule, with a payload of its own", async () => {
    const { client } = createWorld();
    await client.put({ ...HOURLY, enabled: false });
    await client.pause("hourly");
    const { occurrence } = await client.runNow("hourly", { key: "k", payload: null });
    expect(occurrence.payload).toBe("null");
  });

  it.each([[""], ["two words"], ["ü"], ["x".repeat(129)]])("refuses the key %j", async (key) => {
    const { client } = createWorld();
    await client.put(HOURLY);
    await expect(client.runNow("hourly", { key })).rejects.toThrow("key must be 1-128 printable ASCII characters");
  });

  it("refuses a key that is not there, which would make one run of all (F304)", async () => {
    const { client, store } = createWorld();
    await client.put(HOURLY);
    // As callers without types do.
    for (const options of [{}, { key: undefined }, { key: null }])
      await expect(Reflect.apply(client.runNow, client, ["hourly", options])).rejects.toThrow(InvalidArgumentError);
    expect(store.allOccurrences()).toEqual([]);
  });

  it("refuses a payload that is too large or no JSON", async () => {
    const { client } = createWorld();
    await client.put(HOURLY);
    const run = (payload: unknown) => client.runNow("hourly", { key: "k", payload });
    await expect(run("x".repeat(32 * 1024))).rejects.toThrow("payload must be at most 32768 bytes of JSON, got 32770");
    await expect(run(() => {})).rejects.toThrow(InvalidArgumentError);
  });

  it("settles an insert whose answer was lost", async () => {
    const world = createWorld();
    await world.client.put(HOURLY);
    const { insert } = world.store.occurrences;
    Object.assign(world.manager.occurrences, {
      insert: async (rows: readonly Occurrence[]) => {
        await insert(rows);
        return rows.map(() => ({ kind: "unknown", error: new Error("timeout") }));
      },
    });
    const { occurrence } = await world.client.runNow("hourly", { key: "k" });
    expect(occurrence.firing).toBe("manual#k");
  });
});

describe("cancel", () => {
  it("takes a head out only after its successor stands", async () => {
    const { client, insert, row } = createWorld();
    await client.put(HOURLY);
    const next = plusMs(NOON, HOUR_MS);
    await insert(anOccurrence({ scheduleId: "hourly", scheduledFor: next }));
    const cancelled = await client.occurrences.cancel(`hourly@${toIso(next)}`);
    expect(cancelled).toMatchObject({ status: "CANCELLED", fencingToken: 1 });
    expect(row("hourly", plusMs(NOON, 2 * HOUR_MS))).toMatchObject({ status: "PENDING", fencingToken: 0 });
  });

  it("keeps the chain of a paused schedule, and starts none for a deleted one", async () => {
    const { client, insert, row } = createWorld();
    await client.put({ scheduleId: "paused", rate: "1 hour" });
    await client.pause("paused");
    await insert(anOccurrence({ scheduleId: "paused" }), anOccurrence({ scheduleId: "deleted" }));
    await client.occurrences.cancel(`paused@${toIso(NOON)}`);
    await client.occurrences.cancel(`deleted@${toIso(NOON)}`);
    expect(row("paused", plusMs(NOON, HOUR_MS))?.status).toBe("PENDING");
    expect(row("deleted", plusMs(NOON, HOUR_MS))).toBeUndefined();
  });

  it("fences off a running attempt and keeps its lease", async () => {
    const { client, insert } = createWorld();
    const leaseUntil = plusMs(NOON, 30_000);
    const running = { status: "RUNNING", attempts: 1, fencingToken: 1, owner: "worker", leaseUntil } as const;
    await insert(anOccurrence({ scheduleId: "gone", ...running }));
    const cancelled = await client.occurrences.cancel(`gone@${toIso(NOON)}`);
    expect(cancelled).toMatchObject({ status: "CANCELLED", fencingToken: 2, leaseUntil });
    expect(cancelled.dueAt).toBeUndefined();
  });

  it("decides anew where the row moved on meanwhile", async () => {
    const world = createWorld();
    await world.insert(anOccurrence({ kind: "manual" }));
    const { write } = world.store.occurrences;
    let races = 0;
    Object.assign(world.manager.occurrences, {
      write: async (writes: Parameters<typeof write>[0]) => {
        races += 1;
        if (races > 1) return write(writes);
        const key = { scheduleId: "nightly", firing: toIso(NOON) };
        await write([{ key, guard: [], change: { set: { status: "DISPATCHED" }, add: { fencingToken: 1 } } }]);
        return write(writes);
      },
    });
    const cancelled = await world.client.occurrences.cancel(`nightly@${toIso(NOON)}`);
    expect(cancelled).toMatchObject({ status: "CANCELLED", fencingToken: 2 });
  });

  it("leaves what is cancelled, and refuses what is finished or unknown", async () => {
    const { client, insert } = createWorld();
    await insert(anOccurrence({ scheduleId: "done", status: "SUCCEEDED" }));
    await insert(anOccurrence({ scheduleId: "off", status: "CANCELLED", fencingToken: 3 }));
    expect(await client.occurrences.cancel(`off@${toIso(NOON)}`)).toMatchObject({ fencingToken: 3 });
    await expect(client.occurrences.cancel(`done@${toIso(NOON)}`)).rejects.toThrow(
      "is SUCCEEDED: there is nothing left to cancel",
    );
    await expect(client.occurrences.cancel("never@2026-01-01T00:00Z")).rejects.toThrow(OccurrenceNotFoundError);
  });
});

describe("occurrences", () => {
  it("lists a schedule's runs newest first, by bounds and states, page by page", async () => {
    const { client, insert } = createWorld();
    const rows = Array.from({ length: 5 }, (_, hour) =>
      anOccurrence({
        scheduledFor: plusMs(NOON, hour * HOUR_MS),
        status: hour % 2 === 0 ? "SUCCEEDED" : "SKIPPED",
      }),
    );
    await insert(...rows);
    const hours = (page: { rows: readonly Occurrence[] }) =>
      page.rows.map(({ scheduledFor }) => (scheduledFor - NOON) / HOUR_MS);
    expect(hours(await client.occurrences.list({ scheduleId: "nightly" }))).toEqual([4, 3, 2, 1, 0]);
    expect(hours(await client.occurrences.list({ scheduleId: "nightly", statuses: ["SKIPPED"], limit: 2 }))).toEqual([
      3, 1,
    ]);
    const bounds = { from: "2026-11-29T13:00Z", to: "2026-11-29T15:00:00Z", newestFirst: false };
    expect(hours(await client.occurrences.list({ scheduleId: "nightly", ...bounds }))).toEqual([1, 2, 3]);
    const { cursor } = await client.occurrences.list({ scheduleId: "nightly", limit: 3 });
    expect(hours(await client.occurrences.list({ scheduleId: "nightly", ...(cursor && { cursor }) }))).toEqual([1, 0]);
  });

  it.each([
    ["nightly@2026-11-29T12:00Z", "nightly@2026-11-29T12:00:00.000Z"],
    ["nightly@2026-11-29T12:00:00Z", "nightly@2026-11-29T12:00:00.000Z"],
    ["nightly@2026-11-29T12:00:00.500Z", "nightly@2026-11-29T12:00:00.500Z"],
    ["nightly@manual#a@b", "nightly@manual#a@b"],
    ["nightly@2026-13-99T12:00Z", "nightly@2026-13-99T12:00Z"],
  ])("takes %s for %s", (name, canonical) => {
    expect(formatKey(keyOf(name))).toBe(canonical);
  });

  it("refuses a name without a firing", () => {
    expect(() => keyOf("nightly")).toThrow('occurrence must be named <scheduleId>@<firing>, got "nightly"');
  });
});

describe("dead letters", () => {
  it("are listed newest first across shards", async () => {
    const { client, insert } = createWorld();
    const rows = [3, 1, 4, 2, 5].map((minute) => aDeadLetter(`s${minute}`, minute * 60_000, { shard: minute % 4 }));
    await insert(...rows.map((row) => ({ ...row, deadLetterShard: row.shard })));
    const all = await client.deadLetters.list();
    expect(all.rows.map(({ scheduleId }) => scheduleId)).toEqual(["s5", "s4", "s3", "s2", "s1"]);
    expect(all.more).toBe(false);
    const two = await client.deadLetters.list({ limit: 2 });
    expect(two.rows.map(({ scheduleId }) => scheduleId)).toEqual(["s5", "s4"]);
    expect(two.more).toBe(true);
  });

  it("of one schedule leave out what was discarded", async () => {
    const { client, insert } = createWorld();
    await insert(aDeadLetter("one", 1_000), aDeadLetter("one", 2_000), aDeadLetter("two", 3_000));
    await client.deadLetters.discard(aDeadLetter("one", 1_000));
    const { rows } = await client.deadLetters.list({ scheduleId: "one" });
    expect(rows.map(({ deadLetteredAt }) => deadLetteredAt)).toEqual([plusMs(NOON, 2_000)]);
  });

  it("are replayed with all attempts and their token, once", async () => {
    const { client, insert, pass } = createWorld();
    const dead = aDeadLetter("one", 1_000);
    await insert(dead);
    const now = pass(HOUR_MS);
    const replayed = await client.deadLetters.replay(dead);
    expect(replayed).toMatchObject({ status: "PENDING", attempts: 0, fencingToken: 10, dueAt: now });
    expect(replayed.lastError).toBeUndefined();
    await expect(client.deadLetters.replay(dead)).rejects.toThrow(OccurrenceStateError);
  });

  it("keep their row for as long as history once they are discarded", async () => {
    const { client, insert, now } = createWorld();
    const dead = aDeadLetter("one", 1_000);
    await insert(dead);
    const row = await client.deadLetters.discard(dead);
    expect(row).toMatchObject({ status: "DEAD_LETTERED", expiresAtSeconds: now() / 1000 + 30 * 86_400 });
    expect((await client.deadLetters.list()).rows).toEqual([]);
  });
});
