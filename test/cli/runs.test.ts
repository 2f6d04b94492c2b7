import { describe, expect, it } from "vitest";
import { logsCommand } from "../../lib/cli/render/occurrence.ts";
import { plusMs } from "../../lib/core/instant.ts";
import { formatKey } from "../../lib/core/occurrence.ts";
import { aDeadLetter } from "../client/deaths.ts";
import { anOccurrence, NOON } from "../support/occurrences.ts";
import { createCommandLine } from "./run.ts";

const ONE = aDeadLetter("one", 60_000);
const TWO = aDeadLetter("two", 120_000);

describe("occurrence", () => {
  it("lists runs newest first, with lateness and why they were passed over", async () => {
    const { run, world } = createCommandLine();
    await world.insert(
      anOccurrence({ status: "SUCCEEDED", attempts: 1, startedAt: plusMs(NOON, 850) }),
      anOccurrence({ scheduledFor: plusMs(NOON, 60_000), status: "SKIPPED", skipReason: "paused" }),
      anOccurrence({ scheduledFor: plusMs(NOON, -60_000), firing: "manual#k", kind: "manual" }),
    );
    const { code, stdout } = await run("occurrence list nightly");
    expect(code).toBe(0);
    expect(stdout.split("\n").map((line) => line.split(/ {2,}/))).toEqual([
      ["OCCURRENCE", "STATUS", "ATTEMPTS", "STARTED (UTC)", "LATE", "WHY"],
      ["nightly@2026-11-29T12:01:00.000Z", "SKIPPED", "0/10", "-", "-", "paused"],
      ["nightly@2026-11-29T12:00:00.000Z", "SUCCEEDED", "1/10", "2026-11-29T12:00:00.850Z", "850 ms"],
      ["nightly@manual#k", "PENDING", "0/10", "-", "-"],
      [""],
    ]);
    const json = await run("occurrence list nightly --status SKIPPED --format json");
    expect(JSON.parse(json.stdout)).toMatchObject([{ name: "nightly@2026-11-29T12:01:00.000Z", status: "SKIPPED" }]);
    expect(await run("occurrence list absent")).toMatchObject({ code: 0, stdout: "" });
  });

  it("shows a run with its attempts", async () => {
    const { run, world } = createCommandLine();
    await world.insert({ ...ONE, output: '{"n":1}' });
    const { stdout } = await run(`occurrence show ${formatKey(ONE)}`);
    expect(stdout).toContain("attempts:      10 of 10");
    expect(stdout).toContain("attempt 10 (token 10): started 2026-11-29T12:00:59Z, ended after 1 s");
    expect(stdout).toContain("logs: aws logs filter-log-events --log-group-name '/aws/lambda/consumer'");
    const local = await run(`occurrence show ${formatKey(ONE)} --local`);
    expect(local.stdout).toContain("logs: /aws/lambda/consumer 2026/11/29/[$LATEST]abc 1234-5678");
    const json = await run(`dead-letter show ${formatKey(ONE)} --format json`);
    expect(JSON.parse(json.stdout)).toMatchObject({
      payload: { to: "you" },
      output: { n: 1 },
      status: "DEAD_LETTERED",
    });
    expect((await run("occurrence show one@2020-01-01T00:00Z")).code).toBe(1);
  });

  it("cancels with --yes, and goes on where one cannot be", async () => {
    const { run, world } = createCommandLine();
    await world.insert(anOccurrence({ scheduleId: "a" }), anOccurrence({ scheduleId: "b", status: "SUCCEEDED" }));
    const names = "b@2026-11-29T12:00Z a@2026-11-29T12:00Z";
    expect((await run(`occurrence cancel ${names}`)).code).toBe(2);
    const { code, stdout, stderr } = await run(`occurrence cancel ${names} --yes`);
    expect(code).toBe(1);
    expect(stdout).toBe("a@2026-11-29T12:00:00.000Z is CANCELLED\n");
    expect(stderr).toContain("b@2026-11-29T12:00:00.000Z: is SUCCEEDED");
  });
});

describe("dead-letter", () => {
  it("lists open ones newest first, or of a schedule", async () => {
    const { run, world } = createCommandLine();
    await world.insert(ONE, TWO);
    const { stdout } = await run("dead-letter list");
    expect(stdout.split("\n").map((line) => line.split(/ {2,}/))).toEqual([
      ["OCCURRENCE", "DIED (UTC)", "REASON", "ATTEMPTS", "ERROR"],
      [formatKey(TWO), "2026-11-29T12:02:00Z", "attempts-exhausted", "10/10", "TypeError: cannot read properties"],
      [formatKey(ONE), "2026-11-29T12:01:00Z", "attempts-exhausted", "10/10", "TypeError: cannot read properties"],
      [""],
    ]);
    const one = await run("dead-letter list --schedule one --format json --limit 1");
    expect(JSON.parse(one.stdout)).toMatchObject([{ scheduleId: "one" }]);
  });

  it("shows the command that fetches an attempt's logs", async () => {
    expect(logsCommand("/aws/lambda/consumer 2026/11/29/[$LATEST]abc 1234-5678")).toBe(
      `aws logs filter-log-events --log-group-name '/aws/lambda/consumer' --log-stream-names '2026/11/29/[$LATEST]abc' --filter-pattern '"1234-5678"' --query 'events[].message' --output text`,
    );
    expect(logsCommand("host-1 4711")).toBeUndefined();
  });

  it("replays by name, by a schedule's only one, or all, at a bounded rate", async () => {
    const { run, world, slept } = createCommandLine();
    const more = [1, 2, 3].map((minute) => aDeadLetter("many", minute * 60_000));
    await world.insert(ONE, TWO, ...more);
    const several = await run("dead-letter replay many");
    expect(several).toMatchObject({ code: 2, stderr: expect.stringContaining("has 3 open dead letters") });
    expect((await run("dead-letter replay one --dry-run")).stdout).toBe(`${formatKey(ONE)}\n`);
    expect((await run("dead-letter list --schedule one --format json")).stdout).not.toBe("[]\n");
    expect((await run(`dead-letter replay one ${formatKey(TWO)}`)).stdout).toBe(
      `replayed ${formatKey(ONE)}\nreplayed ${formatKey(TWO)}\n`,
    );
    slept.length = 0;
    expect((await run("dead-letter replay many --all --rate 4")).stdout.match(/replayed/g)).toHaveLength(3);
    expect(slept).toEqual([250, 250]);
    expect((await run("dead-letter list --format json")).stdout).toBe("[]\n");
    const none = { code: 1, stderr: expect.stringContaining("schedule one has no open dead letter") };
    expect(await run("dead-letter replay one")).toMatchObject(none);
  });

  it("shows one by a schedule's id where just one is open, and asks for a name where there are several", async () => {
    const { run, world } = createCommandLine();
    await world.insert(ONE, aDeadLetter("many", 0), aDeadLetter("many", 60_000));
    expect((await run("dead-letter show one")).stdout).toContain(`${formatKey(ONE)} (DEAD_LETTERED)`);
    expect(await run("dead-letter show many")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("has 2 open dead letters: name one (many@"),
    });
    expect(await run("dead-letter show nobody")).toMatchObject({
      code: 1,
      stderr: "punctual: schedule nobody has no open dead letter\n",
    });
  });

  it.each(["replay", "discard --yes"])("says that nothing came of a %s with one name wrong", async (verb) => {
    const { run, world } = createCommandLine();
    await world.insert(ONE);
    const { code, stdout, stderr } = await run(`dead-letter ${verb} one nobody`);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/nothing was (replayed|discarded)\n.*schedule nobody has no open dead letter\n$/);
    expect((await run("dead-letter list")).stdout).toContain(formatKey(ONE));
  });

  it("takes on a thousand at a time, and says that there are more", async () => {
    const { run, world } = createCommandLine();
    await world.insert(...Array.from({ length: 1_001 }, (_, index) => aDeadLetter("many", index * 1_000)));
    const { stdout, stderr } = await run("dead-letter replay many --all --dry-run");
    expect(stdout.match(/^many@/gm)).toHaveLength(1_000);
    expect(stderr).toContain("schedule many has more than 1000 open dead letters: say it again for the others");
  });

  it("discards with --yes", async () => {
    const { run, world } = createCommandLine();
    await world.insert(ONE);
    expect((await run("dead-letter discard one")).code).toBe(2);
    expect((await run("dead-letter discard one", { answer: true })).stdout).toBe(`discarded ${formatKey(ONE)}\n`);
    expect((await run("dead-letter list")).stderr).toBe("there are no dead letters\n");
  });
});
