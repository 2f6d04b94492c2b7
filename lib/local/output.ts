import { Console } from "node:console";
import { Writable } from "node:stream";
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

/** Sends what jobs write with `console` through `output`, where it does not tear the view apart. Answers how to undo it. */
export function captureConsole(output: Output): () => void {
  const original = globalThis.console;
  globalThis.console = new Console({ stdout: lines(output), stderr: lines(output), colorMode: false });
  return () => {
    globalThis.console = original;
  };
}

/** `Console` writes whole lines. */
const lines = ({ print }: Output): Writable =>
  new Writable({
    decodeStrings: false,
    write: (chunk: string, _encoding, done) => {
      print(chunk.replace(/\n$/, ""));
      done();
    },
  });
