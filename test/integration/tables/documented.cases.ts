import { describe, expect, it } from "vitest";
import { firesAt } from "../../../lib/core/firing/index.ts";
import { definitionVersion } from "../../../lib/core/schedule-version.ts";
import { documentedCommands, runDocumented } from "../../support/documented-commands.ts";
import type { LocalWorld } from "../../support/local-world.ts";
import { scheduleOf } from "../../support/schedules.ts";

/** What each command of a page leaves on the schedule that the page speaks of, in the page's order. */
const PAGES = {
  "README.md": { scheduleId: "hello", leaves: [{ rate: "5 seconds", status: { state: "ACTIVE" } }] },
  "docs/schedules.md": {
    scheduleId: "report",
    leaves: [
      { rate: "6 hours", status: { state: "ACTIVE" } },
      { cron: "0 9 * * MON-FRI", status: { state: "ACTIVE" } },
      { timezone: "Europe/Berlin", status: { state: "ACTIVE" } },
      { enabled: false, status: { state: "DISABLED" } },
      { enabled: true, status: { state: "ACTIVE" } },
      { paused: { by: "me", note: "migration" }, status: { state: "PAUSED" } },
      { status: { state: "ACTIVE" } },
      "gone",
    ],
  },
} as const;

/** The pages' raw `aws dynamodb` commands, as printed. */
export function documentedItems(world: () => LocalWorld): void {
  describe.each(Object.entries(PAGES))("the raw commands of %s", (page, { scheduleId, leaves }) => {
    it("do what the page says, one after the other", async () => {
      const commands = documentedCommands(page);
      expect(commands).toHaveLength(leaves.length);
      for (const [index, left] of leaves.entries()) {
        await runDocumented(world().dynamodb, world().scheduler.settings.schedulesTable, commands[index] ?? "");
        if (left === "gone") await untilGone(world(), scheduleId);
        else expect(await untilFollowed(world(), scheduleId)).toMatchObject(left);
      }
    });
  });

  it("create nothing under a misspelt id", async () => {
    const { dynamodb, scheduler } = world();
    const updates = documentedCommands("docs/schedules.md").filter((command) => command.includes(" update-item "));
    expect(updates.length).toBeGreaterThan(0);
    for (const command of updates) {
      const misspelt = command.replaceAll('"report"', '"reprot"');
      await expect(runDocumented(dynamodb, scheduler.settings.schedulesTable, misspelt)).rejects.toMatchObject({
        name: "ConditionalCheckFailedException",
      });
    }
    expect(await world().item("reprot")).toBeUndefined();
  });
}

const headsOf = async (world: LocalWorld, scheduleId: string) =>
  (await world.history(scheduleId)).filter(({ status }) => status === "PENDING");

/** The item, once its status and its heads are those of the definition as it stands. */
const untilFollowed = (world: LocalWorld, scheduleId: string) =>
  world.untilWritten(async () => {
    const item = await world.item(scheduleId);
    if (item === undefined) return undefined;
    const { status, timing, enabled, paused } = scheduleOf(item);
    const heads = await headsOf(world, scheduleId);
    const fires = enabled && !paused;
    const followed =
      status?.version === definitionVersion(item) &&
      (status.state === "ACTIVE") === fires &&
      heads.length > 0 === fires &&
      heads.every(({ scheduledFor }) => firesAt(timing, scheduledFor) !== undefined);
    return followed ? item : undefined;
  });

async function untilGone(world: LocalWorld, scheduleId: string): Promise<void> {
  expect(await world.item(scheduleId)).toBeUndefined();
  await world.untilWritten(async () => ((await headsOf(world, scheduleId)).length === 0 ? true : undefined));
}
