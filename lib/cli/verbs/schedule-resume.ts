import type { Command } from "commander";
import {
  BACKFILL_FIRINGS_MAX,
  BACKFILL_LIMIT_MAX,
  type MissedFirings,
  type ResumeOutcome,
} from "../../client/index.ts";
import type { Cli, TargetFlags } from "../cli.ts";
import { commandLine } from "../command-line.ts";
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
      await forEach(cli, await selectIds(client, ids, options), async (id) =>
        resumed(id, await client.resume(id), options),
      );
    });
};

function resumed(id: string, outcome: ResumeOutcome, target: TargetFlags): string {
  if (outcome.kind === "not-paused") return `${id} is not paused`;
  if (outcome.missed === undefined) return `resumed ${id}`;
  const { count, more, from, to } = outcome.missed;
  if (count === 0) return `resumed ${id}: no firing missed from ${utc(from)} to ${utc(to)}`;
  const firings = `${more ? "more than " : ""}${counted(count, "firing")}`;
  const command = commandLine(["schedule", "backfill", id, ...backfillFlags(outcome.missed)], target);
  return `resumed ${id}: ${firings} missed from ${utc(from)} to ${utc(to)}; to run what was missed: ${command}`;
}

function backfillFlags({ count, more, from, to, beyondHistory }: MissedFirings): string[] {
  const limit = more ? BACKFILL_LIMIT_MAX : count;
  return [
    ...["--from", utc(from), "--to", utc(to)],
    ...(limit > BACKFILL_FIRINGS_MAX ? ["--limit", String(limit)] : []),
    ...(beyondHistory ? ["--rerun"] : []),
  ];
}
