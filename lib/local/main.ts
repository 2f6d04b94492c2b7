import "./quiet-sdk.ts";
import { CommanderError } from "commander";
import { PunctualError } from "../core/errors.ts";
import { parseOptions } from "./options.ts";
import { createOutput } from "./output.ts";
import { createScreen } from "./view/screen.ts";

const USAGE_ERROR = 2;

/** Runs `npm start` with `args`; answers the exit code: 0, 1 for what is in the way, 2 for a wrong command line. */
async function main(args: readonly string[], signal: AbortSignal): Promise<number> {
  const { stdout, stderr } = process;
  try {
    const options = parseOptions(args, (text) => void stdout.write(text));
    const output = createOutput((text) => void stdout.write(text), stdout.isTTY ? createScreen(stdout) : undefined);
    // Only now: none of it need load for a wrong command line.
    const { runLocal } = await import("./run.ts");
    await runLocal(options, output, signal);
    return 0;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    if (error instanceof CommanderError) {
      stderr.write(`${error.message}\n`);
      return USAGE_ERROR;
    }
    if (!(error instanceof PunctualError)) throw error;
    stderr.write(`${error.message}\n`);
    return 1;
  }
}

const interrupted = new AbortController();
// Not once: npm passes a Ctrl-C on that the terminal has already sent, and the second must not end the process halfway.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => interrupted.abort());
// Not exitCode: a job that ignores its signal must not keep the process alive.
process.exit(await main(process.argv.slice(2), interrupted.signal));
