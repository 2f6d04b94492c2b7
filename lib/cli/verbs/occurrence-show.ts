import type { Command } from "commander";
import { keyOf, OccurrenceNotFoundError, type SchedulerClient } from "../../client/index.ts";
import type { OccurrenceKey } from "../../core/occurrence.ts";
import type { Cli, TargetFlags } from "../cli.ts";
import { DEAD_LETTER_NAME, deadLetterKey } from "../dead-letter-names.ts";
import { type Format, withFormat, withTarget } from "../options.ts";
import { occurrenceDetails, occurrenceJson } from "../render/occurrence.ts";

/** `occurrence show NAME`: everything about one run. */
export const addOccurrenceShow = (parent: Command, cli: Cli): void =>
  addShow(parent, cli, "<scheduleId>@<firing>", async (_, name) => keyOf(name));

/** `dead-letter show NAME`: the same, and a schedule's id stands for its one open dead letter. */
export const addDeadLetterShow = (parent: Command, cli: Cli): void =>
  addShow(parent, cli, DEAD_LETTER_NAME, (client, name) => deadLetterKey(cli, client, name));

function addShow(
  parent: Command,
  cli: Cli,
  named: string,
  find: (client: SchedulerClient, name: string) => Promise<OccurrenceKey>,
): void {
  withFormat(withTarget(parent.command("show")))
    .description("show a run: what it ran, its attempts, and the commands that fetch their logs")
    .argument("<name>", named)
    .action(async (name: string, options: TargetFlags & { format: Format }) => {
      const { client } = await cli.connect(options);
      const key = await find(client, name);
      const row = await client.occurrences.get(key);
      if (row === undefined) throw new OccurrenceNotFoundError(key);
      if (options.format === "json") cli.printJson(occurrenceJson(row));
      // The local engine's jobs log where it runs.
      else cli.print(occurrenceDetails(row, options.local !== true));
    });
}
