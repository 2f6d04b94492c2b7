import { expect, test } from "vitest";
import { MUTANTS } from "./mutants/index.ts";
import { hunt } from "./mutants/mutant.ts";

const SEEDS_MAX = 150;
const MINUTES = 12;

test("finds every planted bug", async () => {
  const seeds: number[] = [];
  const survivors: string[] = [];
  for (const mutant of MUTANTS) {
    const verdict = await hunt(mutant, SEEDS_MAX, MINUTES);
    seeds.push(verdict.seeds);
    if (verdict.kind === "survived") survivors.push(mutant.name);
  }
  const ordered = seeds.toSorted((left, right) => left - right);
  process.stdout.write(
    `${MUTANTS.length} planted bugs, found after a median of ${ordered[Math.floor(ordered.length / 2)]} seeds, ${ordered.at(-1)} at most\n`,
  );
  expect(MUTANTS.length).toBeGreaterThanOrEqual(30);
  expect(survivors).toEqual([]);
});
