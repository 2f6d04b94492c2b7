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

const { stdin, stdout, stderr, env } = process;
process.exitCode = await main(process.argv.slice(2), { stdin, stdout, stderr, env, ...(stdin.isTTY && { ask }) });
