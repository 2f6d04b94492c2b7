import { describe, expect, it } from "vitest";
import { sourceFiles } from "./source-files.ts";

const LINES_MAX = 300;

/** Files that are one idea and still longer, with what that idea is. */
const LONGER: Readonly<Record<string, string>> = {
  "lib/core/schedule.ts": "what an author may write on an item, and what it means",
  "lib/core/transition.ts": "the machine: its table and what each event writes",
};

const lengths = sourceFiles("lib", "functions", "bin").map(({ path, text }) => ({
  path,
  lines: text.split("\n").length - 1,
}));

describe("source files", () => {
  it(`are at most ${LINES_MAX} lines long, but for those named here`, () => {
    const longer = lengths.filter(({ lines }) => lines > LINES_MAX).map(({ path }) => path);
    expect(longer).toEqual(Object.keys(LONGER));
  });

  it("are short as a rule: half of them under about a hundred lines", () => {
    const sorted = lengths.map(({ lines }) => lines).toSorted((left, right) => left - right);
    expect(sorted[Math.floor(sorted.length / 2)]).toBeLessThan(110);
  });
});
