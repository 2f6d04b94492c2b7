import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { ScheduleExistsError, ScheduleNotFoundError, ScheduleVersionError } from "../../lib/client/index.ts";
import { InvalidScheduleError } from "../../lib/core/errors.ts";
import { toIso } from "../../lib/core/instant.ts";
import { createWorld } from "./world.ts";

const HOURLY = { scheduleId: "hourly", cron: "0 * * * *" };
const MINUTE_MS = 60_000;

describe("put", () => {
  it("writes the author's attributes and keeps an operator's pause", async () => {
    const { client, item, now } = createWorld();
    await client.put(HOURLY);
    await client.pause("hourly", { by: "ops", note: "maintenance" });
    await client.put({ scheduleId: "hourly", rate: "5 minutes" });
    expect(item("hourly")).toEqual({
      scheduleId: "hourly",
      rate: "5 minutes",
      paused: { at: toIso(now()), by: "ops", note: "maintenance" },
    });
  });

  it("names every problem of a definition and writes nothing", async () => {
    const { client, item } = createWorld();
    const refused = client.put({ scheduleId: "hourly", cron: "99 * * * *", timezone: "Mars/Base", queue: "none" });
    await expect(refused).rejects.toThrow(InvalidScheduleError);
    await expect(refused).rejects.toThrow(/timezone: .*Mars.*cron: .*99.*queue: must be a queue of this deployment/);
    expect(item("hourly")).toBeUndefined();
  });

  it("refuses an attribute that nothing reads: it would be dropped", async () => {
    const { client } = createWorld();
    const misspelt = { ...HOURLY, timezon: "Europe/Berlin" };
    await expect(client.put(misspelt)).rejects.toThrow("timezon: is no attribute of a schedule");
  });

  it("creates only what is not there", async () => {
    const { client } = createWorld();
    await client.create(HOURLY);
    await expect(client.create(HOURLY)).rejects.toThrow(ScheduleExistsError);
  });
});

describe("put on condition of the version that was read", () => {
  it("replaces that version, also where it was paused meanwhile", async () => {
    const { client, item } = createWorld();
    await client.put(HOURLY);
    const read = await client.get("hourly");
    await client.pause("hourly");
    await client.put({ ...HOURLY, cron: "5 * * * *" }, { ifVersion: read?.version ?? "" });
    expect(item("hourly")).toMatchObject({ cron: "5 * * * *", paused: {} });
  });

  it("keeps what another editor wrote, and tells both versions", async () => {
    const { client, item } = createWorld();
    await client.put(HOURLY);
    const mine = (await client.get("hourly"))?.version ?? "";
    await client.put({ ...HOURLY, cron: "5 * * * *" });
    const theirs = (await client.get("hourly"))?.version ?? "";
    const put = client.put({ ...HOURLY, cron: "9 * * * *" }, { ifVersion: mine });
    await expect(put).rejects.toThrow(ScheduleVersionError);
    await expect(put).rejects.toMatchObject({ code: "ScheduleVersion", expected: mine, actual: theirs });
    await expect(put).rejects.toThrow(`schedule hourly must still be at version ${mine}, got ${theirs}; read it again`);
    expect(item("hourly")).toMatchObject({ cron: "5 * * * *" });
  });

  it("notices an edit between its own reading and writing", async () => {
    const world = createWorld();
    await world.client.put(HOURLY);
    const ifVersion = (await world.client.get("hourly"))?.version ?? "";
    const { put } = world.store.schedules;
    Object.assign(world.manager.schedules, {
      put: async (...args: Parameters<typeof put>) => {
        await put({ ...HOURLY, cron: "5 * * * *" }, "any");
        return put(...args);
      },
    });
    const mine = world.client.put({ ...HOURLY, cron: "9 * * * *" }, { ifVersion });
    await expect(mine).rejects.toThrow(ScheduleVersionError);
    expect(world.item("hourly")).toMatchObject({ cron: "5 * * * *" });
  });

  it("does not create a schedule that is gone", async () => {
    const { client, item } = createWorld();
    await expect(client.put(HOURLY, { ifVersion: "v" })).rejects.toThrow(
      "schedule hourly must still be at version v, got none: it does not exist; read it again",
    );
    expect(item("hourly")).toBeUndefined();
  });
});

describe("putMany", () => {
  it("accepts the thirty schedules found in public repositories", async () => {
    const { client, store } = createWorld();
    const text = await readFile(new URL("../cases/real-world.json", import.meta.url), "utf8");
    const definitions = z.array(z.looseObject({ scheduleId: z.string() })).parse(JSON.parse(text));
    expect(definitions).toHaveLength(30);
    const outcomes = await client.putMany(definitions);
    expect(outcomes.map(({ kind }) => kind)).toEqual(definitions.map(() => "put"));
    expect(store.allSchedules()).toHaveLength(30);
  });

  it("writes nothing where one is invalid, and names it", async () => {
    const { client, store } = createWorld();
    const put = client.putMany([HOURLY, { scheduleId: "bad", cron: "nonsense" }]);
    await expect(put).rejects.toThrow(/bad\.cron: /);
    expect(store.allSchedules()).toEqual([]);
  });

  it("refuses an id that comes twice", async () => {
    const { client } = createWorld();
    await expect(client.putMany([HOURLY, HOURLY])).rejects.toThrow(
      'hourly (number 2).scheduleId: must be unique, got "hourly" also as number 1',
    );
  });

  it("lets the others through where the store fails one", async () => {
    const world = createWorld();
    const { put } = world.manager.schedules;
    Object.assign(world.manager.schedules, {
      put: async (item: typeof HOURLY, expectation: "any") => {
        if (item.scheduleId === "hourly") throw new Error("throttled");
        return put(item, expectation);
      },
    });
    const outcomes = await world.client.putMany([HOURLY, { scheduleId: "other", rate: "1 day" }]);
    expect(outcomes).toEqual([
      { kind: "failed", scheduleId: "hourly", error: new Error("throttled") },
      { kind: "put", scheduleId: "other" },
    ]);
  });
});

describe("reading and removing", () => {
  it("reads what stands, valid or not, and undefined for what does not", async () => {
    const { client, store } = createWorld();
    store.putItem({ scheduleId: "broken", cron: "nonsense" });
    await client.put(HOURLY);
    expect((await client.get("hourly"))?.parsed.kind).toBe("valid");
    expect((await client.get("broken"))?.parsed.kind).toBe("invalid");
    expect(await client.get("absent")).toBeUndefined();
  });

  it("lists page by page, and by group", async () => {
    const { client } = createWorld();
    await client.putMany(
      ["a", "b", "c"].map((scheduleId) => ({
        scheduleId,
        rate: "1 hour",
        ...(scheduleId !== "b" && { group: "tenant-1" }),
      })),
    );
    const first = await client.list({ limit: 2 });
    const second = await client.list({ limit: 2, ...(first.cursor !== undefined && { cursor: first.cursor }) });
    expect([...first.rows, ...second.rows].map(({ item }) => item.scheduleId).sort()).toEqual(["a", "b", "c"]);
    const group = await client.list({ group: "tenant-1" });
    expect(group.rows.map(({ item }) => item.scheduleId).sort()).toEqual(["a", "c"]);
  });

  it.each([[0], [1.5], [1_001]])("refuses a page of %s", async (limit) => {
    const { client } = createWorld();
    await expect(client.list({ limit })).rejects.toThrow(`limit must be a whole number from 1 to 1000, got ${limit}`);
  });

  it("says whether there was something to delete", async () => {
    const { client } = createWorld();
    await client.put(HOURLY);
    expect(await client.delete("hourly")).toBe("removed");
    expect(await client.delete("hourly")).toBe("missing");
  });
});

describe("pause and resume", () => {
  it("counts the firings that a pause left out", async () => {
    const { client, item, now, pass } = createWorld();
    await client.put(HOURLY);
    const from = now();
    expect(await client.pause("hourly")).toBe("paused");
    const to = pass(150 * MINUTE_MS);
    expect(await client.resume("hourly")).toMatchObject({
      kind: "resumed",
      missed: { count: 3, more: false, from, to },
    });
    expect(item("hourly")).toEqual({ ...HOURLY, resumedAt: toIso(to) });
  });

  it("counts no further than ten thousand", async () => {
    const { client, pass } = createWorld();
    await client.put({ scheduleId: "busy", rate: "1 second" });
    await client.pause("busy");
    pass(3 * 1440 * MINUTE_MS);
    expect(await client.resume("busy")).toMatchObject({ missed: { count: 10_000, more: true } });
  });

  it("keeps the first pause, and resumes nothing that is not paused", async () => {
    const { client, item, now, pass } = createWorld();
    await client.put(HOURLY);
    expect(await client.resume("hourly")).toEqual({ kind: "not-paused" });
    const at = toIso(now());
    await client.pause("hourly", { by: "first" });
    pass(MINUTE_MS);
    expect(await client.pause("hourly", { by: "second" })).toBe("already-paused");
    expect(item("hourly")).toMatchObject({ paused: { at, by: "first" } });
  });

  it("resumes what somebody paused by hand, without a date", async () => {
    const { client, store } = createWorld();
    store.putItem({ ...HOURLY, paused: true });
    expect(await client.resume("hourly")).toEqual({ kind: "resumed" });
  });

  it("knows no schedule that does not exist", async () => {
    const { client } = createWorld();
    await expect(client.pause("absent")).rejects.toThrow(ScheduleNotFoundError);
    await expect(client.resume("absent")).rejects.toThrow("schedule absent does not exist");
  });
});
