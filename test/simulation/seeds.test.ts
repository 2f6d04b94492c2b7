import { beforeAll, expect, test } from "vitest";
import { loadSimulation } from "./bundle.ts";
import type { Simulation } from "./simulation.ts";

const SEEDS = 200;
const MINUTES = 10;
let simulation: Simulation;

beforeAll(async () => {
  simulation = await loadSimulation("seeds");
});

test("holds every invariant in every world", async () => {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
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
