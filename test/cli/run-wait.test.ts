import { describe, expect, it } from "vitest";
import type { Occurrence } from "../../lib/core/occurrence.ts";
import { whileWaiting } from "../client/waits.ts";
import { createCommandLine } from "./run.ts";

async function commandLine() {
  const line = createCommandLine();
  await line.world.client.put({ scheduleId: "a", cron: "0 * * * *" });
  return line;
}

const RUNNING: Partial<Occurrence> = { status: "RUNNING", attempts: 1 };

describe("schedule run --wait", () => {
  it("follows the run, prints its output and succeeds with it", async () => {
    const { run, world } = await commandLine();
    whileWaiting(world, RUNNING, { status: "SUCCEEDED", output: '{"sent":3}' });
    const { code, stdout, stderr } = await run("schedule run a --key k --wait");
    expect(code).toBe(0);
    expect(stdout).toBe('a@manual#k is SUCCEEDED, output {"sent":3}\n');
    expect(stderr).toContain("a@manual#k runs now");
    expect(stderr).toContain("RUNNING, attempt 1 of 10");
  });

  it("prints the run as JSON", async () => {
    const { run, world } = await commandLine();
    whileWaiting(world, { status: "SUCCEEDED", output: '{"sent":3}' });
    const { stdout } = await run("schedule run a --key k --wait --format json");
    expect(JSON.parse(stdout)).toMatchObject({ name: "a@manual#k", status: "SUCCEEDED", output: { sent: 3 } });
    const again = await run("schedule run a --key k --format json");
    expect(JSON.parse(again.stdout)).toMatchObject({ name: "a@manual#k", output: { sent: 3 } });
  });

  it("says of the same key later what came of it, also where the output was not kept", async () => {
    const { run, world } = await commandLine();
    whileWaiting(world, { status: "SUCCEEDED", outputDropped: true });
    expect((await run("schedule run a --key k --wait")).stdout).toContain("its output was too large to keep");
    expect(await run("schedule run a --key k --wait")).toMatchObject({
      code: 0,
      stdout: "a@manual#k is SUCCEEDED, its output was too large to keep\n",
    });
  });

  it.each([
    [
      "DEAD_LETTERED",
      { lastError: { name: "TypeError", message: "no" } },
      "a@manual#k is DEAD_LETTERED: TypeError: no\n",
    ],
    ["CANCELLED", {}, "a@manual#k is CANCELLED\n"],
  ] as const)("fails with a run that ended as %s", async (status, given, said) => {
    const { run, world } = await commandLine();
    whileWaiting(world, RUNNING, { status, ...given });
    expect(await run("schedule run a --key k --wait")).toMatchObject({ code: 1, stdout: said });
  });

  it("fails when the time is up, and says that the run goes on", async () => {
    const { run, world } = await commandLine();
    whileWaiting(world, RUNNING);
    const { code, stdout, stderr } = await run("schedule run a --key k --wait --timeout 10");
    expect({ code, stdout }).toEqual({ code: 1, stdout: "a@manual#k is RUNNING\n" });
    expect(stderr).toContain(
      "stopped waiting: its time is up; the run goes on: npx punctual occurrence show a@manual#k",
    );
  });

  it("ends at Ctrl-C without touching the run, and listens no longer", async () => {
    const { run, world, interrupt, listening } = await commandLine();
    whileWaiting(world, RUNNING, interrupt);
    const { code, stderr } = await run("schedule run a --key k --wait");
    expect(code).toBe(1);
    expect(stderr).toContain("stopped waiting; the run goes on");
    expect(world.store.allOccurrences()).toMatchObject([{ status: "RUNNING" }]);
    expect(listening()).toBe(0);
  });

  it("refuses a timeout where nobody waits", async () => {
    const { run } = await commandLine();
    expect((await run("schedule run a --timeout 5")).code).toBe(2);
    expect((await run("schedule run a --wait --timeout soon")).code).toBe(2);
  });
});
