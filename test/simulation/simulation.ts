import { exhaust } from "./scenarios/exhaustive.ts";
import { type Outcome, runSeed } from "./scenarios/random.ts";
import {
  BAD_NEIGHBOUR,
  BORN_AGAIN,
  CROWDED,
  MISSED,
  playSmall,
  SEEN_LATE,
  SMALL_SCENARIOS,
  type SmallOutcome,
  type SmallScenario,
} from "./scenarios/small.ts";

/** What a bundle of the simulation offers. */
export interface Simulation {
  readonly smallScenarios: readonly SmallScenario[];
  /** Small worlds that show something without any fault. */
  readonly calmScenarios: readonly SmallScenario[];
  play(scenario: SmallScenario): Promise<SmallOutcome>;
  runSeed(seed: number, minutes: number): Promise<Outcome>;
  exhaust: typeof exhaust;
}

export const simulation: Simulation = {
  smallScenarios: SMALL_SCENARIOS,
  calmScenarios: [BAD_NEIGHBOUR, BORN_AGAIN, ...CROWDED, SEEN_LATE, MISSED],
  play: (scenario) => playSmall(scenario, []),
  runSeed,
  exhaust,
};
