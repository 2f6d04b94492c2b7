import type { Command } from "commander";
import type { Cli, TargetFlags } from "../cli.ts";
import { type Format, withFormat, withLimit, withTarget } from "../options.ts";
import { scheduleJson, schedulesTable } from "../render/schedule.ts";
import { listAll } from "../select.ts";

/** `schedule list`: schedules with their state and next firing. */
export const addScheduleList = (parent: Command, cli: Cli): void => {
  withFormat(withLimit(withTarget(parent.command("list")), 100))
    .description("list schedules with their state and next firing")
    .option("--group <name>", "only those of a group")
    .action(async (options: TargetFlags & { format: Format; limit: number; group?: string }) => {
      const { client } = await cli.connect(options);
      const { schedules, more } = await listAll(client, options);
      const now = cli.io.now();
      if (options.format === "json") cli.printJson(schedules.map((standing) => scheduleJson(standing, now)));
      else if (schedules.length > 0) cli.print(schedulesTable(schedules, now));
      else cli.note("there are no schedules");
      if (more) cli.note(`there are more than ${options.limit}: --limit shows them`);
    });
};
