import type { Screen } from "./view/screen.ts";

/** Where lines go that people read: below each other on a pipe, above the redrawn view on a terminal. */
export interface Output {
  /** Whether there is a view to be redrawn. */
  readonly screen: Screen | undefined;
  print(line: string): void;
}

/** Lines to `write`, or above `screen` where there is one. */
export const createOutput = (write: (text: string) => void, screen: Screen | undefined): Output => ({
  screen,
  print: (line) => (screen ? screen.print(line) : write(`${line}\n`)),
});
