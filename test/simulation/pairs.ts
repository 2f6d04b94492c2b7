import { beforeAll, expect, it } from "vitest";
import { loadSimulation } from "./bundle.ts";
import type { SmallScenario } from "./scenarios/small.ts";
import type { Simulation } from "./simulation.ts";

/** Pairs of faults are searched in parts, each a test of its own, in two files by turns, so that two cores have one until the end. */
const PARTS = 8;

/** The tests that hold one half of the small worlds with any two faults. */
export function itHoldsWithAnyTwoFaults(half: "first" | "second"): void {
  const parts = Array.from({ length: PARTS / 2 }, (_, index) => 2 * index + (half === "first" ? 1 : 2));
  let simulation: Simulation;

  beforeAll(async () => {
    simulation = await loadSimulation(`pairs-${half}`);
  });

  it.each(parts)(`holds with any two faults, part %i of ${PARTS}`, async (part) => {
    for (const scenario of simulation.smallScenarios) {
      const { worlds, broken } = await simulation.exhaust(scenario, 2, { index: part - 1, of: PARTS });
      expect(broken?.report ?? "held", JSON.stringify(broken?.faults)).toBe("held");
      expect(worlds).toBeGreaterThan(leastWorlds(scenario));
    }
  });
}

/** A part of a scenario has so many worlds at least; pairs at few of its exchanges are fewer. */
const leastWorlds = ({ firstFaultsOf, pairsAt }: SmallScenario): number =>
  firstFaultsOf?.length === 0 ? 0 : pairsAt === undefined ? 100 : 50;
