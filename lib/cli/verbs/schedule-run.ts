import { randomUUID } from "node:crypto";
import type { Command } from "commander";
import { formatKey, isTerminal, type Occurrence } from "../../core/occurrence.ts";
import { type Cli, type TargetFlags, UsageError } from "../cli.ts";
import { withTarget } from "../options.ts";

/** `schedule run ID`: runs a schedule's job now, under a key of the caller's. */
export const addScheduleRun = (parent: Command, cli: Cli): void => {
  withTarget(parent.command("run"))
    .description("run a schedule's job now, also while it is paused; its firings stay as they are")
    .argument("<id>", "the schedule")
    .option("--key <text>", "yours: the same key is the same run, however often it is asked for (default: a new one)")
    .option("--payload <json>", "in place of the schedule's payload")
    .action(async (id: string, options: TargetFlags & { key?: string; payload?: string }) => {
      const payload = options.payload === undefined ? {} : { payload: payloadOf(options.payload) };
      const { client } = await cli.connectToWrite(options);
      const { occurrence, created } = await client.runNow(id, { key: options.key ?? randomUUID(), ...payload });
      const name = formatKey(occurrence);
      if (created) return cli.print(`${name} runs now (occurrence ${occurrence.occurrenceId})`);
      cli.print(`${name} stands already: ${occurrence.status}${outputOf(occurrence)}`);
    });
};

function payloadOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new UsageError(`--payload must be JSON, got ${text}`);
  }
}

function outputOf(row: Occurrence): string {
  if (!isTerminal(row.status)) return "";
  if (row.outputDropped) return ", its output was too large to keep";
  return row.output === undefined ? "" : `, output ${row.output}`;
}
