import { type Outcome, runSeed } from "./scenarios/random.ts";

/** What a bundle of the simulation offers. */
export interface Simulation {
  runSeed(seed: number, minutes: number): Promise<Outcome>;
}

export const simulation: Simulation = { runSeed };
