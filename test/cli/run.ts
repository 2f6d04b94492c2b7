import { main } from "../../lib/cli/main.ts";
import type { ConnectOptions } from "../../lib/client/index.ts";
import { createWorld, type World } from "../client/world.ts";

/** What one command line did. */
export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** What a command line meets. */
interface Given {
  readonly stdin?: string;
  /** What is answered on the terminal; absent: there is none. */
  readonly answer?: boolean;
  /** Arguments with spaces in them. */
  readonly args?: readonly string[];
  /** Why the deployment cannot be found. */
  readonly thrown?: Error;
}

/** The command line on a deployment in memory. */
export function createCommandLine(world: World = createWorld()) {
  const connected: ConnectOptions[] = [];
  const slept: number[] = [];
  const listeners = new Set<() => void>();
  let closed = 0;
  return {
    world,
    connected,
    slept,
    closed: () => closed,
    /** Ctrl-C. */
    interrupt: () => {
      for (const listener of listeners) listener();
    },
    listening: () => listeners.size,
    async run(argv: string, given: Given = {}): Promise<Ran> {
      const { stdin = "", answer, args = [], thrown } = given;
      const [stdout, stderr]: [string[], string[]] = [[], []];
      const code = await main([...argv.split(" ").filter(Boolean), ...args], {
        stdout: { write: (text) => stdout.push(text) },
        stderr: { write: (text) => stderr.push(text) },
        stdin: chunks(stdin),
        env: { USER: "tester" },
        onInterrupt: (listener) => {
          listeners.add(listener);
          return () => listeners.delete(listener);
        },
        ...(answer !== undefined && { ask: async () => answer }),
        clients: {
          now: world.now,
          sleep: async (ms) => void slept.push(ms),
          connect: async (options) => {
            if (thrown) throw thrown;
            connected.push(options);
            return {
              client: world.client,
              describe: async () => "account 123456789012, region eu-central-1, table Schedules",
              close: () => {
                closed += 1;
              },
            };
          },
        },
      });
      return { code, stdout: stdout.join(""), stderr: stderr.join("") };
    },
  };
}

async function* chunks(text: string): AsyncIterable<string> {
  yield text;
}
