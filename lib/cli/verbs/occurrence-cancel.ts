import type { Command } from "commander";
import { keyOf } from "../../client/index.ts";
import { formatKey } from "../../core/occurrence.ts";
import type { Cli, TargetFlags } from "../cli.ts";
import { forEach } from "../each.ts";
import { withTarget, withYes } from "../options.ts";

/** `occurrence cancel NAME...`: ends runs that are not finished; their schedules go on. */
export const addOccurrenceCancel = (parent: Command, cli: Cli): void => {
  withYes(withTarget(parent.command("cancel")))
    .description("end runs that are not finished; their schedules go on")
    .argument("<names...>", "<scheduleId>@<firing>")
    .action(async (names: string[], options: TargetFlags & { yes?: boolean }) => {
      const keys = names.map(keyOf);
      const { client } = await cli.connectToWrite(options);
      await cli.confirm(`Cancel ${keys.map(formatKey).join(", ")}?`, options);
      await forEach(cli, keys, async (key) => {
        const row = await client.occurrences.cancel(key);
        return `${formatKey(row)} is ${row.status}`;
      });
    });
};
