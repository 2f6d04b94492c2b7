import { createInterface } from "node:readline/promises";
import { main } from "../lib/cli/main.ts";

/** Asks on the terminal; anything but y or yes is no. */
async function ask(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `)).trim());
  } finally {
    terminal.close();
  }
}

/** The first Ctrl-C is the listener's; the next one ends the process as ever. */
function onInterrupt(listener: () => void): () => void {
  process.once("SIGINT", listener);
  return () => process.off("SIGINT", listener);
}

const { stdin, stdout, stderr, env } = process;
// `punctual ... | head` closes the pipe when it has seen enough: that is no failure.
stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  throw error;
});
process.exitCode = await main(process.argv.slice(2), {
  stdin,
  stdout,
  stderr,
  env,
  onInterrupt,
  ...(stdin.isTTY && { ask }),
});
