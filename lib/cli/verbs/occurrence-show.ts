import type { Command } from "commander";
import { keyOf, OccurrenceNotFoundError } from "../../client/index.ts";
import type { Cli, TargetFlags } from "../cli.ts";
import { type Format, withFormat, withTarget } from "../options.ts";
import { occurrenceDetails, occurrenceJson } from "../render/occurrence.ts";

/** `occurrence show NAME` and `dead-letter show NAME`: everything about one run. */
export const addOccurrenceShow = (parent: Command, cli: Cli): void => {
  withFormat(withTarget(parent.command("show")))
    .description("show a run: what it ran, its attempts, and the commands that fetch their logs")
    .argument("<name>", "<scheduleId>@<firing>")
    .action(async (name: string, options: TargetFlags & { format: Format }) => {
      const key = keyOf(name);
      const { client } = await cli.connect(options);
      const row = await client.occurrences.get(key);
      if (row === undefined) throw new OccurrenceNotFoundError(key);
      if (options.format === "json") cli.printJson(occurrenceJson(row));
      // The local engine's jobs log where it runs.
      else cli.print(occurrenceDetails(row, options.local !== true));
    });
};
