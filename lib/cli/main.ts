import { setTimeout } from "node:timers/promises";
import { CommanderError } from "commander";
import { type Connection, type ConnectOptions, connect, UnnamedTargetError } from "../client/index.ts";
import { formatProblem, InvalidScheduleError, PunctualError } from "../core/errors.ts";
import { type Instant, instant } from "../core/instant.ts";
import { type Cli, createCli, type Io, type Output, ReportedError, UsageError } from "./cli.ts";
import { createProgram } from "./program.ts";

/** What the process gives to the command line. */
export interface MainIo extends Pick<Io, "env" | "stdin"> {
  readonly stdout: Output;
  readonly stderr: Output;
  /** Asks a yes-or-no question; absent where there is no terminal. */
  readonly ask?: Io["ask"];
  /** Absent where nothing can interrupt. */
  readonly onInterrupt?: Io["onInterrupt"];
  /** In place of AWS, this host's clock and its timers: for tests. */
  readonly clients?: {
    readonly connect?: (options: ConnectOptions) => Promise<Connection>;
    readonly now?: () => Instant;
    readonly sleep?: (ms: number) => Promise<void>;
  };
}

/** Everything went as asked. */
const EXIT_OK = 0;
/** Something failed, and stderr says what. */
const EXIT_FAILED = 1;
/** The command line was not used as it must be. */
const EXIT_USAGE = 2;

/** Runs one command line, `argv` without node and script. Answers the exit code and never throws. */
export async function main(
  argv: readonly string[],
  { ask, onInterrupt, clients = {}, ...io }: MainIo,
): Promise<number> {
  const cli = createCli({
    ...io,
    ...(ask && { ask }),
    onInterrupt: onInterrupt ?? (() => () => {}),
    connect: clients.connect ?? connect,
    now: clients.now ?? (() => instant(Date.now())),
    sleep: clients.sleep ?? ((ms) => setTimeout(ms)),
  });
  try {
    await createProgram(cli).parseAsync(argv, { from: "user" });
    return EXIT_OK;
  } catch (thrown) {
    return exitCodeOf(thrown, cli);
  } finally {
    cli.close();
  }
}

function exitCodeOf(thrown: unknown, cli: Cli): number {
  // Commander has printed its message by now, or the help that was asked for.
  if (thrown instanceof CommanderError) return HELP_CODES.has(thrown.code) ? EXIT_OK : EXIT_USAGE;
  if (thrown instanceof ReportedError) return EXIT_FAILED;
  if (thrown instanceof InvalidScheduleError)
    for (const problem of thrown.problems) cli.note(`punctual: ${formatProblem(problem)}`);
  else if (thrown instanceof PunctualError) cli.note(`punctual: ${thrown.message}`);
  // A bug, or an answer nobody foresaw: where it happened is what helps.
  else cli.note(`punctual: ${thrown instanceof Error ? thrown.stack : String(thrown)}`);
  if (isRefusedConnection(thrown)) cli.note("Nothing listens there: is the local engine running? npm start starts it.");
  return thrown instanceof UsageError || thrown instanceof UnnamedTargetError ? EXIT_USAGE : EXIT_FAILED;
}

/** Commander's codes for help that was asked for. */
const HELP_CODES: ReadonlySet<string> = new Set(["commander.helpDisplayed", "commander.version"]);

const isRefusedConnection = (thrown: unknown): boolean =>
  thrown instanceof Error && (thrown.message.includes("ECONNREFUSED") || isRefusedConnection(thrown.cause));
