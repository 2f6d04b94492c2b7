import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { plusMs } from "../../lib/core/instant.ts";
import { anOccurrence, NOON } from "../support/occurrences.ts";
import { createCommandLine } from "./run.ts";

const REAL_WORLD = fileURLToPath(new URL("../cases/real-world.json", import.meta.url));

async function aFile(name: string, text: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "punctual-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  const path = join(directory, name);
  await writeFile(path, text);
  return path;
}

describe("schedule put", () => {
  it("puts the thirty schedules found in public repositories in one go", async () => {
    const { run, world } = createCommandLine();
    const { code, stdout } = await run(`schedule put ${REAL_WORLD}`);
    expect(code).toBe(0);
    expect(stdout).toMatch(/put 30 schedules\n$/);
    expect(world.store.allSchedules()).toHaveLength(30);
  });

  it("shows a new schedule with its first firings, and what changes in one that stands", async () => {
    const { run, world } = createCommandLine();
    await world.client.put({ scheduleId: "nightly", cron: "0 2 * * *", job: "report" });
    const yaml = "- scheduleId: nightly\n  cron: 0 3 * * *\n  job: report\n- {scheduleId: fresh, rate: 1 day}\n";
    const { code, stdout } = await run("schedule put -", { stdin: yaml });
    expect(code).toBe(0);
    expect(stdout).toBe(
      [
        "~ nightly",
        "    - cron: 0 2 * * *",
        "    + cron: 0 3 * * *",
        "    next before: 2026-11-30T02:00:00Z, 2026-12-01T02:00:00Z, 2026-12-02T02:00:00Z",
        "    next after:  2026-11-30T03:00:00Z, 2026-12-01T03:00:00Z, 2026-12-02T03:00:00Z",
        "+ fresh (new)",
        "    + rate: 1 day",
        "    next: 2026-11-30T00:00:00Z, 2026-12-01T00:00:00Z, 2026-12-02T00:00:00Z",
        "put 2 schedules",
        "",
      ].join("\n"),
    );
  });

  it("writes nothing on a dry run", async () => {
    const { run, world } = createCommandLine();
    const { code, stdout, stderr } = await run(`schedule put ${REAL_WORLD} --dry-run`);
    expect(code).toBe(0);
    expect(stdout).toContain("+ workflow-1 (new)");
    expect(stderr).toContain("nothing was written (--dry-run): 30 schedules");
    expect(world.store.allSchedules()).toEqual([]);
  });

  it("prints every problem with its path and writes nothing where any is invalid", async () => {
    const { run, world } = createCommandLine();
    const file = await aFile(
      "bad.json",
      JSON.stringify([
        { scheduleId: "good", rate: "1 hour" },
        { scheduleId: "bad", cron: "61 * * * *", retry: { maxAttempts: 0 } },
        { cron: "0 * * * *", timezon: "UTC" },
        "text",
      ]),
    );
    const { code, stdout, stderr } = await run(`schedule put ${file}`);
    expect(code).toBe(1);
    expect(stdout).toBe("");
    expect(stderr).toContain("bad: retry.maxAttempts: must be a whole number from 1 to 100, got 0");
    expect(stderr).toContain("bad: cron: minute must be 0-59");
    expect(stderr).toContain("number 3: scheduleId: ");
    expect(stderr).toContain("number 3: timezon: is no attribute of a schedule");
    expect(stderr).toContain('number 4: must be a map of a schedule\'s attributes, got "text"');
    expect(stderr).toMatch(/nothing was written\n$/);
    expect(world.store.allSchedules()).toEqual([]);
  });

  it("says what is wrong with a file that cannot be read", async () => {
    const { run } = createCommandLine();
    const missing = await run("schedule put /nowhere/x.yaml");
    expect(missing).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("/nowhere/x.yaml cannot be read: ENOENT"),
    });
    const json = await run(`schedule put ${await aFile("x.json", "{")}`);
    expect(json).toMatchObject({ code: 1, stderr: expect.stringContaining("must be JSON") });
    const empty = await run("schedule put -", { stdin: "" });
    expect(empty).toMatchObject({ code: 1, stderr: expect.stringContaining("must hold a schedule or a list") });
    const star = await run("schedule put -", { stdin: "scheduleId: a\ncron: * * * * *\n" });
    expect(star).toMatchObject({ code: 1, stderr: expect.stringContaining("must stand in quotes") });
  });

  it("keeps what a paused schedule is, and says that it fires nothing", async () => {
    const { run, world } = createCommandLine();
    await world.client.put({ scheduleId: "hourly", rate: "1 hour" });
    await world.client.pause("hourly");
    const { stdout } = await run("schedule put -", { stdin: "{scheduleId: hourly, rate: 2 hours}" });
    expect(stdout).toContain("    next: none: it is paused (as before)\n");
    expect(world.item("hourly")).toHaveProperty("paused");
  });

  it("reports the one that the store refused, and exits 1", async () => {
    const { run, world } = createCommandLine();
    Object.assign(world.manager.schedules, {
      put: async ({ scheduleId }: { scheduleId: string }) => {
        if (scheduleId === "a") throw new Error("throttled");
        return "put";
      },
    });
    const { code, stdout, stderr } = await run("schedule put -", {
      stdin: "[{scheduleId: a, rate: 1 day}, {scheduleId: b, rate: 1 day}]",
    });
    expect(code).toBe(1);
    expect(stderr).toContain("a: was not put: throttled");
    expect(stdout).toMatch(/put 1 schedule\n$/);
  });
});

describe("schedule put --if-version", () => {
  it("replaces the version that show printed, once", async () => {
    const { run, world } = createCommandLine();
    await world.client.put({ scheduleId: "s", rate: "1 hour" });
    const shown = await run("schedule show s");
    const version = /version: +(\S+)/.exec(shown.stdout)?.[1];
    const put = () => run(`schedule put - --if-version ${version}`, { stdin: "{scheduleId: s, rate: 2 hours}" });
    expect(await put()).toMatchObject({ code: 0, stdout: expect.stringMatching(/put 1 schedule\n$/) });
    const again = await put();
    expect(again.code).toBe(1);
    expect(again.stderr).toContain(`schedule s must still be at version ${version}, got `);
  });

  it("tells on a dry run that another version stands", async () => {
    const { run, world } = createCommandLine();
    await world.client.put({ scheduleId: "s", rate: "1 hour" });
    const { code } = await run("schedule put - --dry-run --if-version old", {
      stdin: "{scheduleId: s, rate: 2 hours}",
    });
    expect(code).toBe(1);
  });

  it("is for one schedule", async () => {
    const { run } = createCommandLine();
    const stdin = "[{scheduleId: a, rate: 1 day}, {scheduleId: b, rate: 1 day}]";
    expect(await run("schedule put - --if-version v", { stdin })).toMatchObject({ code: 2 });
  });
});

describe("schedule set", () => {
  it("suggests the nearest attribute for a slip of the pen, and none for another word", async () => {
    const { run } = createCommandLine();
    const slip = await run("schedule set s timeZone=UTC");
    expect(slip).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/got "timeZone"; the nearest is timezone\n$/),
    });
    expect((await run("schedule set s colour=red")).stderr).toMatch(/must be one of scheduleId, .*, got "colour"\n$/);
  });

  it("loses nothing that somebody else changes between its reading and its writing", async () => {
    const { run, world } = createCommandLine();
    await world.client.put({ scheduleId: "s", rate: "1 hour" });
    const { getMany } = world.client;
    Object.assign(world.client, {
      getMany: async (ids: readonly string[]) => {
        const read = await getMany(ids);
        await world.client.put({ scheduleId: "s", rate: "1 hour", job: "theirs" });
        return read;
      },
    });
    const { code, stderr } = await run("schedule set s", { args: ["rate=2 hours"] });
    expect(code).toBe(1);
    expect(stderr).toContain("schedule s must still be at version");
    expect(world.item("s")).toMatchObject({ rate: "1 hour", job: "theirs" });
  });

  it("changes and removes attributes, maps and their members", async () => {
    const { run, world } = createCommandLine();
    await world.client.put({
      scheduleId: "s",
      cron: "0 2 * * *",
      timezone: "Europe/Berlin",
      retry: { maxAttempts: 3 },
    });
    const args = ["rate=5 minutes", "retry.baseDelaySeconds=2", 'payload={"a":[1]}', "description=42", "enabled=false"];
    const { code } = await run("schedule set s", { args: [...args, "--unset", "timezone"] });
    expect(code).toBe(0);
    expect(world.item("s")).toEqual({
      scheduleId: "s",
      rate: "5 minutes",
      retry: { maxAttempts: 3, baseDelaySeconds: 2 },
      payload: { a: [1] },
      description: "42",
      enabled: false,
    });
  });

  it("refuses what is not valid, and leaves the schedule alone", async () => {
    const { run, world } = createCommandLine();
    await world.client.put({ scheduleId: "s", rate: "1 day" });
    const { code, stderr } = await run("schedule set s misfire.policy=never");
    expect(code).toBe(1);
    expect(stderr).toContain('s: misfire.policy: must be one of coalesce, all, skip, got "never"');
    expect(world.item("s")).toEqual({ scheduleId: "s", rate: "1 day" });
  });

  it("knows no schedule that does not exist", async () => {
    const { code, stderr } = await createCommandLine().run("schedule set absent enabled=true");
    expect(code).toBe(1);
    expect(stderr).toContain("punctual: schedule absent does not exist");
  });
});

describe("schedule list and show", () => {
  it("lists what stands by id, with state and next firing", async () => {
    const { run, world } = createCommandLine();
    await world.client.putMany([
      { scheduleId: "b", cron: "0 2 * * *", timezone: "Europe/Berlin", group: "g" },
      { scheduleId: "a", rate: "1 hour", enabled: false },
      { scheduleId: "d", at: "2020-01-01T00:00:00Z" },
    ]);
    world.store.putItem({ scheduleId: "c", cron: "nonsense" });
    const { stdout } = await run("schedule list");
    expect(stdout.split("\n").map((line) => line.split(/ {2,}/))).toEqual([
      ["SCHEDULE", "STATE", "WHEN", "TIMEZONE", "NEXT (UTC)", "JOB", "GROUP"],
      ["a", "DISABLED", "1 hour", "UTC", "-", "default", "-"],
      ["b", "ACTIVE", "0 2 * * *", "Europe/Berlin", "2026-11-30T01:00:00Z", "default", "g"],
      ["c", "INVALID", "nonsense", "UTC", "-", "default", "-"],
      ["d", "ENDED", "2020-01-01T00:00:00Z", "UTC", "-", "default", "-"],
      [""],
    ]);
    const { stdout: json } = await run("schedule list --format json --group g");
    expect(JSON.parse(json)).toMatchObject([
      { scheduleId: "b", state: "ACTIVE", nextFirings: [{ scheduledFor: "2026-11-30T01:00:00.000Z" }] },
    ]);
  });

  it("says where there are more than it lists", async () => {
    const { run, world } = createCommandLine();
    await world.client.putMany(["a", "b", "c"].map((scheduleId) => ({ scheduleId, rate: "1 day" })));
    const { stdout, stderr } = await run("schedule list --limit 2 --format json");
    expect(JSON.parse(stdout)).toHaveLength(2);
    expect(stderr).toContain("there are more than 2");
  });

  it("shows a schedule in words, with its pause, its warnings and its coming firings", async () => {
    const { run, world } = createCommandLine();
    await world.client.put({ scheduleId: "s", cron: "0 2 * * *", timezone: "Europe/Berlin" });
    const active = await run("schedule show s");
    expect(active.stdout).toContain("s (ACTIVE)\n");
    expect(active.stdout).toContain("At 02:00, time zone Europe/Berlin");
    expect(active.stdout).toContain("note: this job may run twice");
    expect(active.stdout).toContain("Mon 2026-11-30 02:00:00 +01:00  2026-11-30T01:00:00Z");
    await world.client.pause("s", { by: "ops", note: "maintenance" });
    const paused = await run("schedule show s");
    expect(paused.stdout).toContain("s (PAUSED)\n");
    expect(paused.stdout).toContain("since 2026-11-29T12:00:00.000Z by ops: maintenance");
  });

  it("shows what is wrong with an invalid one", async () => {
    const { run, world } = createCommandLine();
    world.store.putItem({ scheduleId: "c", cron: "61 * * * *" });
    expect((await run("schedule show c")).stdout).toContain("    cron: minute must be 0-59");
    world.store.putItem({ scheduleId: "both", cron: "0 * * * *", rate: "1 hour" });
    expect((await run("schedule show both")).stdout).toContain("\n    exactly one of cron, rate and at must be given");
    expect((await run("schedule show absent")).code).toBe(1);
  });
});

describe("schedule delete, pause, resume and run", () => {
  it("deletes with --yes, or asked on a terminal, and never without either", async () => {
    const { run, world } = createCommandLine();
    await world.client.putMany(["a", "b", "c"].map((scheduleId) => ({ scheduleId, rate: "1 day", group: "g" })));
    expect(await run("schedule delete a")).toMatchObject({ code: 2, stderr: expect.stringContaining("Add --yes") });
    expect(await run("schedule delete a", { answer: false })).toMatchObject({ code: 1 });
    expect(world.store.allSchedules()).toHaveLength(3);
    expect(await run("schedule delete a", { answer: true })).toMatchObject({ code: 0, stdout: "deleted a\n" });
    expect(await run("schedule delete absent b --yes")).toMatchObject({ code: 1, stdout: "deleted b\n" });
    expect(await run("schedule delete --group g --yes")).toMatchObject({ code: 0, stdout: "deleted c\n" });
  });

  it("deletes schedules with their history, by id and by group, and says how a stopped purge goes on", async () => {
    const { run, world } = createCommandLine();
    await world.client.putMany(["a", "b", "c"].map((scheduleId) => ({ scheduleId, rate: "1 day", group: "g" })));
    const rows = ["a", "b", "b"].map((scheduleId, index) =>
      anOccurrence({ scheduleId, scheduledFor: plusMs(NOON, -index), status: "SUCCEEDED" }),
    );
    await world.insert(...rows);
    expect(await run("schedule delete a --purge")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("history"),
    });
    const one = await run("schedule delete a --purge --yes --stack x");
    expect(one).toMatchObject({ code: 0, stdout: "deleted a and 1 run\n" });
    expect(one.stderr).toContain("if this is stopped, npx punctual schedule delete a --purge --yes --stack x goes on");
    const group = await run("schedule delete --group g --purge --yes");
    expect(group).toMatchObject({ code: 0, stdout: "deleted b and 2 runs\ndeleted c and 0 runs\n" });
    expect(world.store.allOccurrences()).toEqual([]);
    expect((await run("schedule delete a --purge --yes")).code).toBe(1);
  });

  it("prints a backfill command that works as printed, for the same deployment, however much was missed", async () => {
    const line = createCommandLine();
    const { run, world, connected } = line;
    await world.client.putMany([
      { scheduleId: "often", rate: "1 minute" },
      { scheduleId: "long", rate: "7 days" },
    ]);
    await run("schedule pause --all");
    world.pass(31 * 86_400_000);
    const { stdout } = await run("schedule resume --all --stack x --region eu-central-1");
    const commands = [...stdout.matchAll(/to run what was missed: npx punctual (.*)/g)].map(
      ([, command = ""]) => command,
    );
    expect(commands).toHaveLength(2);
    for (const command of commands) expect(await run(`${command} --dry-run`)).toMatchObject({ code: 0 });
    expect(connected.at(-1)).toMatchObject({ stack: "x", region: "eu-central-1" });
  });

  it("pauses and resumes by id, group, queue or all", async () => {
    const { run, world } = createCommandLine();
    await world.client.putMany([
      { scheduleId: "a", rate: "1 hour", group: "g" },
      { scheduleId: "b", rate: "1 hour", queue: "slow" },
    ]);
    const note = { args: ["--note", "moving house"] };
    expect(await run("schedule pause --group g", note)).toMatchObject({ code: 0, stdout: "paused a\n" });
    expect(world.item("a")).toMatchObject({ paused: { by: "tester", note: "moving house" } });
    const all = await run("schedule pause --all");
    expect(all.stdout).toBe("a is paused already: its first pause stays\npaused b\n");
    world.pass(2 * 3_600_000);
    const slow = await run("schedule resume --queue slow");
    expect(slow.stdout).toBe(
      "resumed b: 2 firings missed from 2026-11-29T12:00:00Z to 2026-11-29T14:00:00Z; to run what was missed: npx punctual schedule backfill b --from 2026-11-29T12:00:00Z --to 2026-11-29T14:00:00Z\n",
    );
    expect((await run("schedule resume b")).stdout).toBe("b is not paused\n");
    expect(await run("schedule resume absent a")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("schedule absent does not exist"),
      stdout: expect.stringContaining("resumed a"),
    });
  });

  it("runs now under a key, and answers the same key with the same run", async () => {
    const { run, world } = createCommandLine();
    await world.client.put({ scheduleId: "a", rate: "1 day" });
    const first = await run("schedule run a --key k", { args: ["--payload", '{"n":1}'] });
    expect(first.stdout).toMatch(/^a@manual#k runs now \(occurrence [0-9a-f-]{36}\)\n$/);
    expect(world.store.allOccurrences()[0]?.payload).toBe('{"n":1}');
    expect((await run("schedule run a --key k")).stdout).toBe("a@manual#k stands already: PENDING\n");
    await run("schedule run a");
    expect(world.store.allOccurrences()).toHaveLength(2);
  });
});

describe("schedule validate", () => {
  it("accepts the thirty schedules found in public repositories, without a deployment", async () => {
    const { run, connected } = createCommandLine();
    expect(await run(`schedule validate ${REAL_WORLD}`)).toEqual({
      code: 0,
      stdout: "30 schedules, no problem\n",
      stderr: "",
    });
    expect(connected).toEqual([]);
  });

  it("prints every problem and exits 1", async () => {
    const stdin =
      "- {scheduleId: a, cron: '61 25 * * *'}\n- {scheduleId: b, rate: 1 day, effects: none}\n- {scheduleId: c}\n";
    const text = await createCommandLine().run("schedule validate -", { stdin });
    expect(text.code).toBe(1);
    expect(text.stdout).toMatch(/^a: cron: minute .*\n(a: cron: .*\n)*c: .*exactly one of cron, rate/);
    expect(text.stderr).toContain("warning: b: effects: ");
    const json = await createCommandLine().run("schedule validate - --format json", { stdin });
    expect(json.code).toBe(1);
    expect(JSON.parse(json.stdout)).toMatchObject([
      { schedule: "a", problems: [{ path: "cron" }, { path: "cron" }] },
      { schedule: "b", problems: [] },
      { schedule: "c", problems: [{}] },
    ]);
  });

  it("knows the queues only of a deployment that is named", async () => {
    const stdin = "{scheduleId: a, rate: 1 day, queue: reports}";
    expect((await createCommandLine().run("schedule validate -", { stdin })).code).toBe(0);
    const named = await createCommandLine().run("schedule validate - --stack x", { stdin });
    expect(named).toMatchObject({
      code: 1,
      stdout: expect.stringContaining("queue: must be a queue of this deployment"),
    });
  });
});
