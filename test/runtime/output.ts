import { onTestFinished, vi } from "vitest";

/** Captures stdout and stderr until the test ends; the answer gives what was written so far, a JSON value a line. */
export function outputLines(): () => unknown[] {
  const written: string[] = [];
  for (const stream of [process.stdout, process.stderr]) {
    const spy = vi.spyOn(stream, "write").mockImplementation((chunk) => {
      written.push(String(chunk));
      return true;
    });
    onTestFinished(() => spy.mockRestore());
  }
  return () =>
    written
      .join("")
      .split("\n")
      .filter((line) => line !== "")
      .map((line): unknown => JSON.parse(line));
}
