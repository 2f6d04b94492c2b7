import type { Release } from "./platform/release.ts";
import { DIRECTED } from "./scenarios/directed.ts";
import { MORE_DIRECTED } from "./scenarios/directed-more.ts";
import { exhaust } from "./scenarios/exhaustive.ts";
import { EXPIRY_DIRECTED } from "./scenarios/expiry.ts";
import { IN_ORDER_DIRECTED } from "./scenarios/in-order.ts";
import { type Outcome, runSeed } from "./scenarios/random.ts";
import { RELEASES_DIRECTED } from "./scenarios/releases.ts";
import { type Planned, playSmall, SMALL_SCENARIOS, type SmallOutcome, type SmallScenario } from "./scenarios/small.ts";
import { WORKER_WORLDS } from "./scenarios/workers.ts";

/** What a bundle of the simulation offers. */
export interface Simulation {
  readonly smallScenarios: readonly SmallScenario[];
  /** Small worlds that show something without any planned fault. */
  readonly directedScenarios: readonly SmallScenario[];
  /** Those in which another release is deployed, where there is one. */
  readonly releaseScenarios: readonly SmallScenario[];
  play(scenario: SmallScenario, faults?: readonly Planned[]): Promise<SmallOutcome>;
  runSeed(seed: number, minutes: number): Promise<Outcome>;
  exhaust: typeof exhaust;
  /** The same, with the code of another release at hand. */
  beside(other: Release): Simulation;
}

const simulationBeside = (other?: Release): Simulation => ({
  smallScenarios: SMALL_SCENARIOS,
  directedScenarios: [...DIRECTED, ...EXPIRY_DIRECTED, ...WORKER_WORLDS, ...MORE_DIRECTED, ...IN_ORDER_DIRECTED],
  releaseScenarios: RELEASES_DIRECTED,
  play: (scenario, faults = []) => playSmall(scenario, faults, other),
  runSeed: (seed, minutes) => runSeed(seed, minutes, other),
  exhaust,
  beside: simulationBeside,
});

export const simulation = simulationBeside();
