import { randomUUID } from "node:crypto";
import type { Command } from "commander";
import {
  type RunNowOutcome,
  type SchedulerClient,
  WAIT_TIMEOUT_MAX_SECONDS,
  WAIT_TIMEOUT_SECONDS,
} from "../../client/index.ts";
import { formatKey, isTerminal, type Occurrence } from "../../core/occurrence.ts";
import { type Cli, ReportedError, type TargetFlags, UsageError } from "../cli.ts";
import { commandLine } from "../command-line.ts";
import { type Format, wholeNumber, withFormat, withTarget } from "../options.ts";
import { occurrenceJson } from "../render/occurrence.ts";

interface RunFlags extends TargetFlags {
  readonly format: Format;
  readonly key?: string;
  readonly payload?: string;
  readonly wait?: boolean;
  readonly timeout?: number;
}

/** `schedule run ID`: runs a schedule's job now, under a key of the caller's. */
export const addScheduleRun = (parent: Command, cli: Cli): void => {
  withFormat(withTarget(parent.command("run")))
    .description("run a schedule's job now, also while it is paused; its firings stay as they are")
    .argument("<id>", "the schedule")
    .option("--key <text>", "yours: the same key is the same run, however often it is asked for (default: a new one)")
    .option("--payload <json>", "in place of the schedule's payload")
    .option("--wait", "follow the run to its end; succeed only if it does")
    .option(
      "--timeout <seconds>",
      `stop waiting then; the run goes on (default: ${WAIT_TIMEOUT_SECONDS})`,
      wholeNumber(0, WAIT_TIMEOUT_MAX_SECONDS),
    )
    .action((id: string, flags: RunFlags) => run(cli, id, flags));
};

async function run(cli: Cli, id: string, flags: RunFlags): Promise<void> {
  if (flags.timeout !== undefined && !flags.wait) throw new UsageError("--timeout is how long to --wait: say both");
  const payload = flags.payload === undefined ? {} : { payload: payloadOf(flags.payload) };
  const { client } = await cli.connectToWrite(flags);
  const outcome = await client.runNow(id, { key: flags.key ?? randomUUID(), ...payload });
  if (flags.wait) return follow(cli, client, outcome, flags);
  if (flags.format === "json") cli.printJson(occurrenceJson(outcome.occurrence));
  else cli.print(begun(outcome));
}

/** Waits for the run's end. Throws `ReportedError` where it did not succeed, or was still going when the waiting ended. */
async function follow(cli: Cli, client: SchedulerClient, begin: RunNowOutcome, flags: RunFlags): Promise<void> {
  cli.note(begun(begin));
  const name = formatKey(begin.occurrence);
  const interrupted = new AbortController();
  const release = cli.io.onInterrupt(() => interrupted.abort());
  try {
    const { kind, occurrence } = await client.occurrences.wait(begin.occurrence, {
      ...(flags.timeout !== undefined && { timeoutSeconds: flags.timeout }),
      signal: interrupted.signal,
      onChange: ({ status, attempts, maxAttempts }) => cli.note(`${status}, attempt ${attempts} of ${maxAttempts}`),
    });
    if (flags.format === "json") cli.printJson(occurrenceJson(occurrence));
    else cli.print(`${name} is ${ended(occurrence)}`);
    if (kind !== "ended")
      cli.note(
        `stopped waiting${kind === "timed-out" ? ": its time is up" : ""}; the run goes on: ${commandLine(["occurrence", "show", name], flags)}`,
      );
    if (occurrence.status !== "SUCCEEDED") throw new ReportedError();
  } finally {
    release();
  }
}

function payloadOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new UsageError(`--payload must be JSON, got ${text}`);
  }
}

function begun({ occurrence, created }: RunNowOutcome): string {
  const name = formatKey(occurrence);
  return created
    ? `${name} runs now (occurrence ${occurrence.occurrenceId})`
    : `${name} stands already: ${ended(occurrence)}`;
}

/** A run's state, and what came of it where it is over. */
function ended(row: Occurrence): string {
  if (!isTerminal(row.status)) return row.status;
  if (row.outputDropped) return `${row.status}, its output was too large to keep`;
  if (row.output !== undefined) return `${row.status}, output ${row.output}`;
  return row.lastError === undefined ? row.status : `${row.status}: ${row.lastError.name}: ${row.lastError.message}`;
}
