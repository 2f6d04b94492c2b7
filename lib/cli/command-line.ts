import type { TargetFlags } from "./cli.ts";

/** What the flags that name a deployment are called. */
const FLAGS = {
  local: "--local",
  stack: "--stack",
  schedulesTable: "--schedules-table",
  occurrencesTable: "--occurrences-table",
  region: "--region",
  profile: "--profile",
  endpointUrl: "--endpoint-url",
} as const satisfies Record<keyof TargetFlags, string>;

const NAMES: readonly (keyof TargetFlags)[] = [
  "local",
  "stack",
  "schedulesTable",
  "occurrencesTable",
  "region",
  "profile",
  "endpointUrl",
];

/** A command line to copy into a shell: `words`, for the same deployment as the one at work. */
export function commandLine(words: readonly string[], target: TargetFlags): string {
  const flags = NAMES.flatMap((name): string[] => {
    const value = target[name];
    if (value === undefined || value === false) return [];
    return value === true ? [FLAGS[name]] : [FLAGS[name], value];
  });
  return ["npx", "punctual", ...words, ...flags].map(quoted).join(" ");
}

/** What a POSIX shell takes to the letter without quotes. */
const PLAIN = /^[\w@%+=:,./#-]+$/;

const quoted = (word: string): string =>
  PLAIN.test(word) && !word.startsWith("#") ? word : `'${word.replaceAll("'", "'\\''")}'`;
