import { beforeAll, describe, expect, it } from "vitest";
import { loadSimulation } from "./bundle.ts";
import type { Simulation } from "./simulation.ts";

let simulation: Simulation;

beforeAll(async () => {
  simulation = await loadSimulation("singles");
});

describe("small worlds", () => {
  it("hold every invariant with no more trouble than they bring", async () => {
    for (const scenario of simulation.directedScenarios)
      expect((await simulation.play(scenario)).report ?? "held", scenario.name).toBe("held");
  });

  it("hold every invariant with any single fault at any exchange", async () => {
    for (const scenario of simulation.smallScenarios) {
      const { worlds, broken } = await simulation.exhaust(scenario, 1);
      expect(broken?.report ?? "held", JSON.stringify(broken?.faults)).toBe("held");
      expect(worlds).toBeGreaterThan(50);
    }
  });
});
