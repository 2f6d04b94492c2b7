import type { Command } from "commander";
import { authoredPart, ScheduleNotFoundError } from "../../client/index.ts";
import { applyAssignments } from "../assignments.ts";
import { type Cli, type TargetFlags, UsageError } from "../cli.ts";
import { withTarget } from "../options.ts";
import { putWithDiff } from "../put.ts";

/** `schedule set ID attribute=value...`: changes some attributes of a schedule that stands. */
export const addScheduleSet = (parent: Command, cli: Cli): void => {
  withTarget(parent.command("set"))
    .description("change attributes of a schedule: cron='0 3 * * *', retry.maxAttempts=5, payload='{\"a\":1}'")
    .argument("<id>", "the schedule")
    .argument("[assignments...]", "attribute=value")
    .option("--unset <attributes...>", "attributes to remove: they go back to their defaults")
    .option("--dry-run", "show what would change, and write nothing")
    .option("--if-version <version>", "only in the place of this version (schedule show has it)")
    .action(
      async (
        id: string,
        assignments: string[],
        options: TargetFlags & { unset?: string[]; dryRun?: boolean; ifVersion?: string },
      ) => {
        const { unset = [] } = options;
        if (assignments.length + unset.length === 0) throw new UsageError("say what to set: attribute=value");
        // What is wrong with the command line is said before anything is asked of AWS.
        applyAssignments({}, assignments, unset);
        const { client } = await cli.connectToWrite(options);
        const standing = await client.get(id);
        if (standing === undefined) throw new ScheduleNotFoundError(id);
        const definition = applyAssignments(authoredPart(standing.item), assignments, unset);
        // What somebody else changes between the reading and the writing must not be lost.
        await putWithDiff(cli, client, [definition], { ifVersion: standing.version, ...options });
      },
    );
};
