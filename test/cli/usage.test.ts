import { describe, expect, it } from "vitest";
import { TargetError, UnnamedTargetError } from "../../lib/client/index.ts";
import { createCommandLine } from "./run.ts";

describe("the command line", () => {
  it.each([
    [""],
    ["schedule"],
    ["nonsense"],
    ["schedule nonsense"],
    ["schedule put"],
    ["schedule list --format xml"],
    ["schedule list --limit 0"],
    ["schedule list --limit 1.5"],
    ["schedule list --nonsense"],
    ["schedule list --local --stack x"],
    ["schedule next --dst-gap sideways"],
    ["schedule set hourly"],
    ["schedule set hourly cron"],
    ["schedule set hourly nonsense=1"],
    ["schedule set hourly payload={"],
    ["schedule set hourly scheduleId=other"],
    ["schedule pause"],
    ["schedule pause hourly --all"],
    ["schedule run hourly --payload {"],
    ["schedule next hourly --cron *"],
    ["schedule delete hourly"],
  ])("exits 2 for %j, with a word on stderr and nothing on stdout", async (argv) => {
    const { code, stdout, stderr } = await createCommandLine().run(argv);
    expect(code).toBe(2);
    expect(stdout).toBe("");
    expect(stderr).not.toBe("");
  });

  it("exits 2 where nothing names a deployment, and 1 where it cannot be found", async () => {
    const cli = createCommandLine();
    const run = async (thrown: Error) => (await cli.run("schedule list", { thrown })).code;
    expect(await run(new UnnamedTargetError("the deployment must be named"))).toBe(2);
    expect(await run(new TargetError("no such stack"))).toBe(1);
  });

  it("prints help that was asked for on stdout and exits 0", async () => {
    const { code, stdout, stderr } = await createCommandLine().run("schedule put --help");
    expect(code).toBe(0);
    expect(stdout).toContain("--dry-run");
    expect(stderr).toBe("");
  });

  it("hands the flags that name a deployment on, and closes what it opened", async () => {
    const cli = createCommandLine();
    await cli.run("schedule list --stack Punctual --region eu-west-1 --profile ops --endpoint-url http://localhost:1");
    expect(cli.connected[0]).toMatchObject({
      stack: "Punctual",
      region: "eu-west-1",
      profile: "ops",
      endpointUrl: "http://localhost:1",
    });
    expect(cli.closed()).toBe(1);
  });

  it("shows where a write goes", async () => {
    const cli = createCommandLine();
    await cli.world.client.put({ scheduleId: "hourly", rate: "1 hour" });
    const { stderr } = await cli.run("schedule pause hourly");
    expect(stderr).toBe("target: account 123456789012, region eu-central-1, table Schedules\n");
  });

  it("exits 1 with the message where the store fails", async () => {
    const cli = createCommandLine();
    const failing = async () => {
      throw new Error("connect ECONNREFUSED 127.0.0.1:8077");
    };
    Object.assign(cli.world.manager.schedules, { list: failing });
    const { code, stderr } = await cli.run("schedule list");
    expect(code).toBe(1);
    expect(stderr).toContain("is the local engine running?");
  });
});
