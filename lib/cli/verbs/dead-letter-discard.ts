import type { Command } from "commander";
import { formatKey } from "../../core/occurrence.ts";
import type { Cli, TargetFlags } from "../cli.ts";
import { DEAD_LETTER_NAME, deadLetterKeys } from "../dead-letter-names.ts";
import { forEach } from "../each.ts";
import { withTarget, withYes } from "../options.ts";
import { counted } from "../render/text.ts";

/** `dead-letter discard NAME...`: takes dead letters off the list; their rows expire with history. */
export const addDeadLetterDiscard = (parent: Command, cli: Cli): void => {
  withYes(withTarget(parent.command("discard")))
    .description("take dead letters off the list; their rows expire with history")
    .argument("<names...>", DEAD_LETTER_NAME)
    .option("--all", "every open dead letter of the schedules named")
    .action(async (names: string[], options: TargetFlags & { all?: boolean; yes?: boolean }) => {
      const { client } = await cli.connectToWrite(options);
      const keys = await deadLetterKeys(cli, client, names, { ...options, verb: "discarded" });
      await cli.confirm(`Discard ${counted(keys.length, "dead letter")}?`, options);
      await forEach(cli, keys, async (key) => {
        await client.deadLetters.discard(key);
        return `discarded ${formatKey(key)}`;
      });
    });
};
