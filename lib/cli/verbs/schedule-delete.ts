import type { Command } from "commander";
import { ScheduleNotFoundError, type SchedulerClient } from "../../client/index.ts";
import type { Cli, TargetFlags } from "../cli.ts";
import { commandLine } from "../command-line.ts";
import { forEach } from "../each.ts";
import { withTarget, withYes } from "../options.ts";
import { counted } from "../render/text.ts";
import { type Selection, selectIds, withSelection } from "../select.ts";

/** `schedule delete ID...`: removes schedules; what is unfinished of them is cancelled, their history stays unless purged. */
export const addScheduleDelete = (parent: Command, cli: Cli): void => {
  withYes(withSelection(withTarget(parent.command("delete"))))
    .description("delete schedules: what is unfinished is cancelled, history stays")
    .argument("[ids...]", "the schedules")
    .option("--purge", "their history too; repeated after a stop, it goes on")
    .action(async (ids: string[], options: TargetFlags & Selection & { yes?: boolean; purge?: boolean }) => {
      const { client } = await cli.connectToWrite(options);
      const selected = await selectIds(client, ids, options);
      if (selected.length === 0) return cli.note("there is nothing to delete");
      const named = ids.length > 0 ? ids.join(", ") : counted(selected.length, "schedule");
      await cli.confirm(`Delete ${named}${options.purge ? " with all history" : ""}?`, options);
      await forEach(cli, selected, (id) => (options.purge ? purge(cli, client, id, options) : remove(client, id)));
    });
};

async function remove(client: SchedulerClient, id: string): Promise<string> {
  if ((await client.delete(id)) === "missing") throw new ScheduleNotFoundError(id);
  return `deleted ${id}`;
}

/** A group's index no longer knows a schedule that is deleted, so a purge that is stopped says how it goes on. */
async function purge(cli: Cli, client: SchedulerClient, id: string, target: TargetFlags): Promise<string> {
  const again = commandLine(["schedule", "delete", id, "--purge", "--yes"], target);
  cli.note(`${id}: removing its history (if this is stopped, ${again} goes on)`);
  let runs = 0;
  const outcome = await client.delete(id, {
    purge: true,
    onProgress: (removed) => {
      runs = removed;
    },
  });
  if (outcome === "missing") throw new ScheduleNotFoundError(id);
  return `deleted ${id} and ${counted(runs, "run")}`;
}
