import { DIRECTED } from "./scenarios/directed.ts";
import { exhaust } from "./scenarios/exhaustive.ts";
import { type Outcome, runSeed } from "./scenarios/random.ts";
import { type Planned, playSmall, SMALL_SCENARIOS, type SmallOutcome, type SmallScenario } from "./scenarios/small.ts";

/** What a bundle of the simulation offers. */
export interface Simulation {
  readonly smallScenarios: readonly SmallScenario[];
  /** Small worlds that show something without any planned fault. */
  readonly directedScenarios: readonly SmallScenario[];
  play(scenario: SmallScenario, faults?: readonly Planned[]): Promise<SmallOutcome>;
  runSeed(seed: number, minutes: number): Promise<Outcome>;
  exhaust: typeof exhaust;
}

export const simulation: Simulation = {
  smallScenarios: SMALL_SCENARIOS,
  directedScenarios: DIRECTED,
  play: (scenario, faults = []) => playSmall(scenario, faults),
  runSeed,
  exhaust,
};
