import { afterAll, expect, test } from "vitest";
import { MUTANTS } from "./mutants/index.ts";
import { hunt } from "./mutants/mutant.ts";

const SEEDS_MAX = 120;
const MINUTES = 12;
const seeds: number[] = [];

afterAll(() => {
  const ordered = seeds.toSorted((left, right) => left - right);
  const median = ordered[Math.floor(ordered.length / 2)];
  process.stdout.write(
    `${seeds.length} planted bugs, found after a median of ${median} random worlds, ${ordered.at(-1)} at most\n`,
  );
});

test("plants at least thirty bugs", () => {
  expect(MUTANTS.length).toBeGreaterThanOrEqual(30);
});

test.each(MUTANTS.map((mutant) => ({ name: mutant.name, mutant })))("finds: $name", async ({ mutant }) => {
  const verdict = await hunt(mutant, SEEDS_MAX, MINUTES);
  seeds.push(verdict.seeds);
  expect(verdict.kind).toBe("found");
});
