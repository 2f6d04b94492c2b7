import type { Command } from "commander";
import type { ResumeOutcome } from "../../client/index.ts";
import type { Cli, TargetFlags } from "../cli.ts";
import { forEach } from "../each.ts";
import { withTarget } from "../options.ts";
import { counted, utc } from "../render/text.ts";
import { type Selection, selectIds, withSelection } from "../select.ts";

/** `schedule resume ID...`: lets schedules fire again from now on, and says what they missed. */
export const addScheduleResume = (parent: Command, cli: Cli): void => {
  withSelection(withTarget(parent.command("resume")))
    .description("let paused schedules fire again from now on, and say what they missed")
    .argument("[ids...]", "the schedules")
    .action(async (ids: string[], options: TargetFlags & Selection) => {
      const { client } = await cli.connectToWrite(options);
      await forEach(cli, await selectIds(client, ids, options), async (id) => resumed(id, await client.resume(id)));
    });
};

function resumed(id: string, outcome: ResumeOutcome): string {
  if (outcome.kind === "not-paused") return `${id} is not paused`;
  if (outcome.missed === undefined) return `resumed ${id}`;
  const { count, more, from, to } = outcome.missed;
  if (count === 0) return `resumed ${id}: no firing missed from ${utc(from)} to ${utc(to)}`;
  const firings = `${more ? "more than " : ""}${counted(count, "firing")}`;
  const command = `punctual schedule backfill ${id} --from ${utc(from)} --to ${utc(to)}`;
  return `resumed ${id}: ${firings} missed from ${utc(from)} to ${utc(to)}; to run what was missed: ${command}`;
}
