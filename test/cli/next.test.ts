import { describe, expect, it } from "vitest";
import { createCommandLine } from "./run.ts";

const next = (args: readonly string[]) => createCommandLine().run("schedule next", { args });

describe("schedule next", () => {
  it("marks a firing that was moved out of a gap", async () => {
    const args = ["--cron", "15 2 * * *", "--timezone", "Australia/Lord_Howe", "--from", "2026-10-03", "--count", "2"];
    expect(await next(args)).toEqual({
      code: 0,
      stderr: "",
      stdout: [
        "At 02:15, time zone Australia/Lord_Howe",
        "LOCAL TIME (Australia/Lord_Howe)  UTC",
        "Sat 2026-10-03 02:15:00 +10:30    2026-10-02T15:45:00Z",
        "Sun 2026-10-04 02:30:00 +11:00    2026-10-03T15:30:00Z  moved: the clocks skip its time",
        "",
      ].join("\n"),
    });
  });

  it("marks both passes of a repeated time, and follows the policy", async () => {
    const args = ["--cron", "30 2 25 10 *", "--timezone", "Europe/Berlin", "--from", "2026-10-01", "--count", "2"];
    const both = await next([...args, "--dst-repeated", "both", "--format", "json"]);
    expect(JSON.parse(both.stdout)).toEqual([
      {
        scheduledFor: "2026-10-25T00:30:00.000Z",
        local: "2026-10-25T02:30:00.000+02:00",
        timezone: "Europe/Berlin",
        dueAt: "2026-10-25T00:30:00.000Z",
        resolved: "repeated",
      },
      {
        scheduledFor: "2026-10-25T01:30:00.000Z",
        local: "2026-10-25T02:30:00.000+01:00",
        timezone: "Europe/Berlin",
        dueAt: "2026-10-25T01:30:00.000Z",
        resolved: "repeated",
      },
    ]);
    const second = await next([...args, "--dst-repeated", "second", "--format", "json", "--count", "1"]);
    expect(JSON.parse(second.stdout)).toMatchObject([{ scheduledFor: "2026-10-25T01:30:00.000Z" }]);
    const skipped = ["--cron", "30 2 29 3 *", "--timezone", "Europe/Berlin", "--from", "2026-01-01", "--count", "1"];
    const gap = await next([...skipped, "--dst-gap", "skip", "--format", "json"]);
    expect(JSON.parse(gap.stdout)).toMatchObject([{ scheduledFor: "2027-03-29T00:30:00.000Z" }]);
  });

  it("shows the mistake of a six-field expression in words", async () => {
    const { stdout } = await next(["--cron", "0 0 9 * * *", "--count", "1"]);
    expect(stdout).toMatch(/^At 09:00/);
  });

  it("shows when jitter lets a firing fall due", async () => {
    const { stdout } = await next(["--rate", "1 hour", "--jitter-seconds", "600", "--id", "s", "--count", "1"]);
    expect(stdout).toContain("DUE, WITH JITTER");
  });

  it("starts from now, and says where a schedule ends", async () => {
    const { code, stdout, stderr } = await next(["--at", "2026-11-29T12:00:01Z"]);
    expect(code).toBe(0);
    expect(stdout).toContain("2026-11-29T12:00:01Z");
    expect(stderr).toBe("it does not fire after that\n");
    const past = await next(["--at", "2026-11-29T11:00:00Z", "--format", "json"]);
    expect(past).toMatchObject({ code: 0, stdout: "[]\n" });
  });

  it("names every problem of an expression and exits 1", async () => {
    const { code, stderr, stdout } = await next(["--cron", "61 * * * *", "--timezone", "Mars/Base"]);
    expect(code).toBe(1);
    expect(stdout).toBe("");
    expect(stderr).toMatch(/punctual: timezone: .*Mars\/Base/);
    expect(stderr).toMatch(/punctual: cron: minute must be 0-59/);
  });

  it("refuses a --from that is no date", async () => {
    const { code, stderr } = await next(["--rate", "1 hour", "--from", "yesterday"]);
    expect(code).toBe(2);
    expect(stderr).toContain('--from must be an ISO date-time, got "yesterday"');
  });

  it("asks a schedule that stands, and says that a paused one fires nothing", async () => {
    const { run, world } = createCommandLine();
    await world.client.put({ scheduleId: "s", cron: "0 2 * * *", timezone: "Asia/Kathmandu" });
    await world.client.pause("s");
    const { code, stdout, stderr } = await run("schedule next s --count 1");
    expect(code).toBe(0);
    expect(stdout).toContain("Mon 2026-11-30 02:00:00 +05:45  2026-11-29T20:15:00Z");
    expect(stderr).toBe("s is paused: it fires again once it is resumed\n");
    expect((await run("schedule next absent")).code).toBe(1);
  });
});
