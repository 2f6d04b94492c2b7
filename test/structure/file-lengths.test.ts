import { describe, expect, it } from "vitest";
import { sourceFiles } from "./source-files.ts";

const LINES_MAX = 300;

const lengths = sourceFiles("lib", "functions", "bin").map(({ path, text }) => ({
  path,
  lines: text.split("\n").length - 1,
}));

describe("source files", () => {
  it(`are at most ${LINES_MAX} lines long`, () => {
    const longer = lengths.filter(({ lines }) => lines > LINES_MAX).map(({ path }) => path);
    expect(longer).toEqual([]);
  });

  it("are short as a rule: half of them under about a hundred lines", () => {
    const sorted = lengths.map(({ lines }) => lines).toSorted((left, right) => left - right);
    expect(sorted[Math.floor(sorted.length / 2)]).toBeLessThan(110);
  });
});
