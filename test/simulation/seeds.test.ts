import { beforeAll, expect, test } from "vitest";
import { loadWithOtherRelease } from "./bundle.ts";
import type { Simulation } from "./simulation.ts";

/** A thousand worlds, in parts that are each a test of their own. */
const PARTS = 5;
const SEEDS_PER_PART = 200;
const MINUTES = 6;
let simulation: Simulation;

beforeAll(async () => {
  simulation = await loadWithOtherRelease("seeds");
});

const parts = Array.from({ length: PARTS }, (_, part) => 1 + part * SEEDS_PER_PART);

test.each(parts)("holds every invariant in every world from seed %i on", async (first) => {
  for (let seed = first; seed < first + SEEDS_PER_PART; seed += 1) {
    const { report } = await simulation.runSeed(seed, MINUTES);
    expect(report ?? "held").toBe("held");
  }
});

test("goes the same way for the same seed", async () => {
  const first = await simulation.runSeed(7, MINUTES);
  const second = await simulation.runSeed(7, MINUTES);
  const other = await simulation.runSeed(8, MINUTES);
  expect(second.hash).toBe(first.hash);
  expect(other.hash).not.toBe(first.hash);
});
