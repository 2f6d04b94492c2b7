import type { Command } from "commander";
import { formatKey } from "../../core/occurrence.ts";
import type { Cli, TargetFlags } from "../cli.ts";
import { DEAD_LETTER_NAME, deadLetterKeys } from "../dead-letter-names.ts";
import { forEach } from "../each.ts";
import { wholeNumber, withTarget } from "../options.ts";
import { counted } from "../render/text.ts";

interface ReplayFlags extends TargetFlags {
  readonly all?: boolean;
  readonly rate: number;
  readonly dryRun?: boolean;
}

/** Replays a second unless told otherwise: what failed together is better not tried together. */
const RATE_DEFAULT = 10;
const RATE_MAX = 1_000;

/** `dead-letter replay NAME...`: lets dead letters run again, with all their attempts. */
export const addDeadLetterReplay = (parent: Command, cli: Cli): void => {
  withTarget(parent.command("replay"))
    .description("let dead letters run again, with all their attempts")
    .argument("<names...>", DEAD_LETTER_NAME)
    .option("--all", "every open dead letter of the schedules named")
    .option("--rate <number>", "at most this many a second", wholeNumber(1, RATE_MAX), RATE_DEFAULT)
    .option("--dry-run", "show which, and replay none")
    .action(async (names: string[], options: ReplayFlags) => {
      const { client } = await cli.connectToWrite(options);
      const keys = await deadLetterKeys(cli, client, names, { ...options, verb: "replayed" });
      if (options.dryRun) {
        for (const key of keys) cli.print(formatKey(key));
        return cli.note(`nothing was replayed (--dry-run): ${counted(keys.length, "dead letter")}`);
      }
      await forEach(cli, keys, async (key, index) => {
        if (index > 0) await cli.io.sleep(1000 / options.rate);
        await client.deadLetters.replay(key);
        return `replayed ${formatKey(key)}`;
      });
    });
};
