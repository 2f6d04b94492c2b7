import type { Command } from "commander";
import { ScheduleNotFoundError } from "../../client/index.ts";
import type { Cli, TargetFlags } from "../cli.ts";
import { forEach } from "../each.ts";
import { withTarget, withYes } from "../options.ts";
import { counted } from "../render/text.ts";
import { type Selection, selectIds, withSelection } from "../select.ts";

/** `schedule delete ID...`: removes schedules; what is unfinished of them is cancelled, their history stays. */
export const addScheduleDelete = (parent: Command, cli: Cli): void => {
  withYes(withSelection(withTarget(parent.command("delete"))))
    .description("delete schedules: what is unfinished is cancelled, history stays")
    .argument("[ids...]", "the schedules")
    .action(async (ids: string[], options: TargetFlags & Selection & { yes?: boolean }) => {
      const { client } = await cli.connectToWrite(options);
      const selected = await selectIds(client, ids, options);
      if (selected.length === 0) return cli.note("there is nothing to delete");
      await cli.confirm(`Delete ${ids.length > 0 ? ids.join(", ") : counted(selected.length, "schedule")}?`, options);
      await forEach(cli, selected, async (id) => {
        if ((await client.delete(id)) === "missing") throw new ScheduleNotFoundError(id);
        return `deleted ${id}`;
      });
    });
};
