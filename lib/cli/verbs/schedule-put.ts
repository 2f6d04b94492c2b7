import type { Command } from "commander";
import { type Cli, type TargetFlags, UsageError } from "../cli.ts";
import { withTarget } from "../options.ts";
import { putWithDiff } from "../put.ts";
import { readSchedules } from "../schedule-file.ts";

/** `schedule put FILE`: creates or replaces the schedules of a file, all or none. */
export const addSchedulePut = (parent: Command, cli: Cli): void => {
  withTarget(parent.command("put"))
    .description("create or replace the schedules of a file (JSON or YAML, one or a list; - reads standard input)")
    .argument("<file>", "the file, or -")
    .option("--dry-run", "show what would change, and write nothing")
    .option("--if-version <version>", "only in the place of this version (schedule show has it); for one schedule")
    .action(async (file: string, options: TargetFlags & { dryRun?: boolean; ifVersion?: string }) => {
      const inputs = await readSchedules(file, cli.io.stdin);
      if (options.ifVersion !== undefined && inputs.length !== 1)
        throw new UsageError(`--if-version is for one schedule, got ${inputs.length}`);
      const { client } = await cli.connectToWrite(options);
      await putWithDiff(cli, client, inputs, options);
    });
};
