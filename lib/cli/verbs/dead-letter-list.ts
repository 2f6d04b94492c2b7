import type { Command } from "commander";
import type { Cli, TargetFlags } from "../cli.ts";
import { type Format, withFormat, withLimit, withTarget } from "../options.ts";
import { deadLettersTable, occurrenceJson } from "../render/occurrence.ts";

interface ListFlags extends TargetFlags {
  readonly format: Format;
  readonly limit: number;
  readonly schedule?: string;
}

/** `dead-letter list`: runs that ended badly and wait for someone, newest first. */
export const addDeadLetterList = (parent: Command, cli: Cli): void => {
  withFormat(withLimit(withTarget(parent.command("list")), 50))
    .description("list the runs that ended badly and wait for someone, newest first")
    .option("--schedule <id>", "only those of a schedule")
    .action(async ({ format, limit, schedule, ...target }: ListFlags) => {
      const { client } = await cli.connect(target);
      const { rows, more } = await client.deadLetters.list({
        limit,
        ...(schedule !== undefined && { scheduleId: schedule }),
      });
      if (format === "json") cli.printJson(rows.map(occurrenceJson));
      else if (rows.length > 0) cli.print(deadLettersTable(rows));
      else cli.note("there are no dead letters");
      if (more) cli.note(`there are more than ${limit}: --limit shows them`);
    });
};
