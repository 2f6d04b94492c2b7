import { isDeepStrictEqual } from "node:util";
import { afterAll, expect, test } from "vitest";
import { MUTANTS } from "./mutants/index.ts";
import { hunt, type Mutant, type Shown } from "./mutants/mutant.ts";

const SEEDS_MAX = 120;
const MINUTES = 12;
const seeds: number[] = [];
const elsewhere: string[] = [];

afterAll(() => {
  const ordered = seeds.toSorted((left, right) => left - right);
  const median = ordered[Math.floor(ordered.length / 2)];
  process.stdout.write(
    `${seeds.length} planted bugs, found after a median of ${median} random worlds, ${ordered.at(-1)} at most\n`,
  );
  // What stands beside them as the world they show in is out of date: searching for another one takes its time.
  for (const line of elsewhere) process.stdout.write(`${line}\n`);
});

test("plants at least thirty bugs", () => {
  expect(MUTANTS.length).toBeGreaterThanOrEqual(30);
});

test.each(MUTANTS.map((mutant) => ({ name: mutant.name, mutant })))("finds: $name", async ({ mutant }) => {
  const verdict = await hunt(mutant, SEEDS_MAX, MINUTES);
  if (verdict.kind === "found") note(mutant, verdict.by, verdict.seeds);
  expect(verdict.kind).toBe("found");
});

function note({ name, shownBy }: Mutant, by: Shown, after: number): void {
  seeds.push(after);
  if (!isDeepStrictEqual(by, shownBy)) elsewhere.push(`${name}: shownBy: ${JSON.stringify(by)}`);
}
