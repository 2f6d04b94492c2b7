import { type Command, Option } from "commander";
import { OCCURRENCE_STATUSES, type OccurrenceStatus } from "../../core/occurrence.ts";
import type { Cli, TargetFlags } from "../cli.ts";
import { type Format, withFormat, withLimit, withTarget } from "../options.ts";
import { occurrenceJson, occurrencesTable } from "../render/occurrence.ts";

interface ListFlags extends TargetFlags {
  readonly format: Format;
  readonly limit: number;
  readonly from?: string;
  readonly to?: string;
  readonly status?: readonly OccurrenceStatus[];
}

/** `occurrence list SCHEDULE`: a schedule's runs, newest first. */
export const addOccurrenceList = (parent: Command, cli: Cli): void => {
  withFormat(withLimit(withTarget(parent.command("list")), 50))
    .description("list the runs of a schedule, newest first")
    .argument("<schedule>", "the schedule's id")
    .option("--from <instant>", "firings from it on")
    .option("--to <instant>", "firings up to it")
    .addOption(new Option("--status <statuses...>", "only these").choices([...OCCURRENCE_STATUSES]))
    .action(async (scheduleId: string, { format, limit, from, to, status, ...target }: ListFlags) => {
      const { client } = await cli.connect(target);
      const { rows, cursor } = await client.occurrences.list({
        scheduleId,
        limit,
        ...(from !== undefined && { from }),
        ...(to !== undefined && { to }),
        ...(status !== undefined && { statuses: status }),
      });
      // A page has manual runs first, whose keys sort after every instant.
      const newest = rows.toSorted((left, right) => right.scheduledFor - left.scheduledFor);
      if (format === "json") cli.printJson(newest.map(occurrenceJson));
      else if (newest.length > 0) cli.print(occurrencesTable(newest));
      else cli.note(`schedule ${scheduleId} has no such runs`);
      if (cursor !== undefined && newest.length > 0) cli.note("there may be more: --limit, --from and --to show them");
    });
};
