import { loadSimulation } from "../bundle.ts";
import type { Fault } from "../faults/plan.ts";
import type { Patch } from "../patch.ts";
import type { Planned } from "../scenarios/small.ts";
import type { Simulation } from "../simulation.ts";

/** So many random worlds come before the search of small ones: most planted bugs show in a few. */
const QUICK_SEEDS = 12;

/** A world in which a planted bug shows: a small one with these faults, or the random one of a seed. */
export type Shown = { readonly world: string; readonly faults?: readonly Planned[] } | { readonly seed: number };

/** A planted bug: one change of production code, and others that it needs to show. */
export interface Mutant extends Patch {
  readonly name: string;
  readonly also?: readonly Patch[];
  /** Where it showed last: tried first, and no more than a hint. */
  readonly shownBy?: Shown;
  /** It shows only where two faults meet: after this one, every second fault is tried in a small world. */
  readonly after?: { readonly name: string; readonly kind: Fault["kind"] };
}

/** How a planted bug was found: where, and after how many random worlds; or not at all. */
export type Verdict =
  | { readonly kind: "found"; readonly by: Shown; readonly seeds: number; readonly report: string }
  | { readonly kind: "survived" };

/**
 * Runs worlds on production code with `mutant` in it until one breaks: the one it showed in last; then the directed ones, random
 * ones, small ones with single faults, and random ones again, of `minutes` each and at most `seedsMax`.
 */
export async function hunt(mutant: Mutant, seedsMax: number, minutes: number): Promise<Verdict> {
  const { file, find, replace, also = [] } = mutant;
  const name = `mutant-${mutant.name.replace(/\W+/g, "-")}`;
  const simulation = await loadSimulation(name, [{ file, find, replace }, ...also]);
  for await (const { by, report } of worlds(simulation, mutant, seedsMax, minutes))
    if (report !== undefined) return { kind: "found", by, seeds: "seed" in by ? by.seed : 0, report };
  return { kind: "survived" };
}

interface Played {
  readonly by: Shown;
  readonly report: string | undefined;
}

async function* worlds(
  simulation: Simulation,
  { shownBy, after }: Mutant,
  seedsMax: number,
  minutes: number,
): AsyncGenerator<Played> {
  const { directedScenarios, smallScenarios } = simulation;
  const random = async (seed: number): Promise<Played> => {
    const { report } = await simulation.runSeed(seed, minutes);
    return { by: { seed }, report };
  };
  if (shownBy && "seed" in shownBy) yield await random(shownBy.seed);
  if (shownBy && "world" in shownBy) {
    const scenario = [...directedScenarios, ...smallScenarios].find((one) => one.name === shownBy.world);
    if (scenario) yield { by: shownBy, report: (await simulation.play(scenario, shownBy.faults)).report };
  }
  for (const scenario of directedScenarios)
    yield { by: { world: scenario.name }, report: (await simulation.play(scenario)).report };
  for (let seed = 1; seed <= Math.min(seedsMax, QUICK_SEEDS); seed += 1) yield await random(seed);
  for (const scenario of smallScenarios) {
    const { broken } = await (after
      ? simulation.exhaust(scenario, 2, undefined, after)
      : simulation.exhaust(scenario, 1));
    if (broken) yield { by: { world: scenario.name, faults: broken.faults }, report: broken.report };
  }
  for (let seed = QUICK_SEEDS + 1; seed <= seedsMax; seed += 1) yield await random(seed);
}
