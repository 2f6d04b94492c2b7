import type { Logger } from "../app/ports.ts";
import type { FunctionName } from "../runtime/names.ts";
import { oneLine } from "./view/words.ts";

const LINE_MAX_CHARACTERS = 300;

/** What the run's own line says too. */
const SAID_ELSEWHERE: ReadonlySet<string> = new Set(["an attempt failed"]);

/**
 * A logger of one line an entry for people. Of what functions log in passing only the consumer's shows, which is what the
 * jobs have to say.
 */
export function createLocalLogger(functionName: FunctionName, print: (line: string) => void): Logger {
  const write =
    (level: string) =>
    (message: string, fields: Readonly<Record<string, unknown>> = {}): void => {
      if (SAID_ELSEWHERE.has(message)) return;
      const details = Object.keys(fields).length > 0 ? ` ${JSON.stringify(fields)}` : "";
      print(oneLine(`${new Date().toISOString()} ${level} ${functionName}: ${message}${details}`, LINE_MAX_CHARACTERS));
    };
  return {
    debug: () => {},
    info: functionName === "consumer" ? write("info") : () => {},
    warn: write("warn"),
    error: write("error"),
  };
}
