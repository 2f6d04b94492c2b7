import type { Command } from "commander";
import type { Cli, TargetFlags } from "../cli.ts";
import { forEach } from "../each.ts";
import { withTarget } from "../options.ts";
import { type Selection, selectIds, withSelection } from "../select.ts";

/** `schedule pause ID...`: stops firings until `resume`; what was already claimed finishes. */
export const addSchedulePause = (parent: Command, cli: Cli): void => {
  withSelection(withTarget(parent.command("pause")))
    .description("stop the firings of schedules until they are resumed")
    .argument("[ids...]", "the schedules")
    .option("--note <text>", "why, for whoever finds them paused")
    .option("--by <name>", "who (default: USER of the environment)")
    .action(async (ids: string[], options: TargetFlags & Selection & { note?: string; by?: string }) => {
      const { client } = await cli.connectToWrite(options);
      const by = options.by ?? cli.io.env["USER"];
      const pause = { ...(by && { by }), ...(options.note !== undefined && { note: options.note }) };
      await forEach(cli, await selectIds(client, ids, options), async (id) =>
        (await client.pause(id, pause)) === "paused"
          ? `paused ${id}`
          : `${id} is paused already: its first pause stays`,
      );
    });
};
