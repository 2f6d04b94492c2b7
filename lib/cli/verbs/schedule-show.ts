import type { Command } from "commander";
import { ScheduleNotFoundError } from "../../client/index.ts";
import type { Cli, TargetFlags } from "../cli.ts";
import { type Format, withFormat, withTarget } from "../options.ts";
import { scheduleDetails, scheduleJson } from "../render/schedule.ts";

/** How many coming firings the JSON form has. */
const FIRINGS_SHOWN = 5;

/** `schedule show ID`: everything about one schedule. */
export const addScheduleShow = (parent: Command, cli: Cli): void => {
  withFormat(withTarget(parent.command("show")))
    .description("show a schedule: its definition, state, problems and coming firings")
    .argument("<id>", "the schedule")
    .action(async (id: string, options: TargetFlags & { format: Format }) => {
      const { client } = await cli.connect(options);
      const standing = await client.get(id);
      if (standing === undefined) throw new ScheduleNotFoundError(id);
      const now = cli.io.now();
      if (options.format === "json") cli.printJson(scheduleJson(standing, now, FIRINGS_SHOWN));
      else cli.print(scheduleDetails(standing, now));
    });
};
