import { type Exhaustion, exhaust } from "./scenarios/exhaustive.ts";
import { type Outcome, runSeed } from "./scenarios/random.ts";
import { playSmall, SMALL_SCENARIOS, type SmallOutcome, type SmallScenario } from "./scenarios/small.ts";

/** What a bundle of the simulation offers. */
export interface Simulation {
  readonly smallScenarios: readonly SmallScenario[];
  play(scenario: SmallScenario): Promise<SmallOutcome>;
  runSeed(seed: number, minutes: number): Promise<Outcome>;
  exhaust(scenario: SmallScenario, depth: 1 | 2, share?: { index: number; of: number }): Promise<Exhaustion>;
}

export const simulation: Simulation = {
  smallScenarios: SMALL_SCENARIOS,
  play: (scenario) => playSmall(scenario, []),
  runSeed,
  exhaust,
};
