import type { Command } from "commander";
import { checkAnywhere } from "../../client/index.ts";
import { type Cli, ReportedError, type TargetFlags } from "../cli.ts";
import { type Format, withFormat, withTarget } from "../options.ts";
import { problemLines } from "../render/problems.ts";
import { counted } from "../render/text.ts";
import { readSchedules } from "../schedule-file.ts";

/** `schedule validate FILE`: prints every problem of the schedules in a file. */
export const addScheduleValidate = (parent: Command, cli: Cli): void => {
  withFormat(withTarget(parent.command("validate")))
    .description("check the schedules of a file, also against a deployment's queues where one is named")
    .argument("<file>", "the file, or -")
    .action(async (file: string, options: TargetFlags & { format: Format }) => {
      const inputs = await readSchedules(file, cli.io.stdin);
      const named = options.local !== undefined || options.stack !== undefined || options.schedulesTable !== undefined;
      const checked = named ? (await cli.connect(options)).client.check(inputs) : checkAnywhere(inputs);
      for (const one of checked)
        if (one.kind === "valid") for (const warning of one.warnings) cli.note(`warning: ${one.label}: ${warning}`);
      const problems = problemLines(checked);
      if (options.format === "json")
        cli.printJson(
          checked.map((one) => ({ schedule: one.label, problems: one.kind === "valid" ? [] : one.problems })),
        );
      else for (const line of problems) cli.print(line);
      if (problems.length > 0) throw new ReportedError();
      if (options.format === "text") cli.print(`${counted(checked.length, "schedule")}, no problem`);
    });
};
