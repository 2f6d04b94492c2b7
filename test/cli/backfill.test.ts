import { describe, expect, it } from "vitest";
import { plusMs } from "../../lib/core/instant.ts";
import { succeedingBackfills } from "../client/backfills.ts";
import { anOccurrence, NOON } from "../support/occurrences.ts";
import { createCommandLine } from "./run.ts";

const HOUR_MS = 3_600_000;

async function hourly() {
  const line = createCommandLine();
  await line.world.client.put({ scheduleId: "a", cron: "0 * * * *", timezone: "Europe/Berlin" });
  await line.world.insert(
    anOccurrence({ scheduleId: "a", scheduledFor: plusMs(NOON, -2 * HOUR_MS), status: "SUCCEEDED" }),
  );
  return line;
}

describe("schedule backfill", () => {
  it("says what it would run in a dry run, local times in the schedule's zone", async () => {
    const { run } = await hourly();
    expect(await run("schedule backfill a --from 2026-11-29T10:00 --dry-run")).toEqual({
      code: 0,
      stdout: "would run 2 firings (1 had run)\n2026-11-29T09:00:00Z\n2026-11-29T11:00:00Z\n",
      stderr: "",
    });
  });

  it("runs it, with the target and progress beside the result", async () => {
    const line = await hourly();
    succeedingBackfills(line.world);
    const { code, stdout, stderr } = await line.run("schedule backfill a --from 2026-11-29T08:00Z --concurrency 2");
    expect({ code, stdout }).toEqual({ code: 0, stdout: "ran 3 firings (1 had run)\n" });
    expect(stderr.split("\n")).toEqual([
      expect.stringContaining("target: "),
      "0 of 3 finished",
      "2 of 3 finished",
      "3 of 3 finished",
      "",
    ]);
    expect((await line.run("schedule backfill a --from 2026-11-29T08:00Z")).stdout).toBe("ran 0 firings (4 had run)\n");
  });

  it("prints it as JSON, up to its limit", async () => {
    const { run } = await hourly();
    const { stdout } = await run("schedule backfill a --from 2026-11-29T08:00Z --limit 1 --dry-run --format json");
    expect(JSON.parse(stdout)).toMatchObject({ wanted: ["2026-11-29T08:00:00.000Z"], more: true });
  });

  it.each([
    ["a", 2],
    ["a --from yesterday", 2],
    ["a --from 2026-11-29T08:00Z --limit 0", 2],
    ["none --from 2026-11-29T08:00Z", 1],
    ["a --from 2020-01-01T00:00Z", 1],
  ])("refuses %s with exit code %s", async (argv, code) => {
    const { run } = await hourly();
    expect((await run(`schedule backfill ${argv}`)).code).toBe(code);
  });
});
