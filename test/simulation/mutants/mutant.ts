import { loadSimulation, type Patch } from "../bundle.ts";
import type { Fault } from "../faults/plan.ts";

/** So many random worlds come before the search of small ones: most planted bugs show in a few. */
const QUICK_SEEDS = 12;

/** A planted bug: one change of production code, and others that it needs to show. */
export interface Mutant extends Patch {
  readonly name: string;
  readonly also?: readonly Patch[];
  /** It shows only where two faults meet: after this one, every second fault is tried in a small world. */
  readonly after?: { readonly name: string; readonly kind: Fault["kind"] };
}

/** How a planted bug was found: in a small world, or after how many random ones; or not at all. */
export type Verdict =
  | { readonly kind: "found"; readonly seeds: number; readonly report: string }
  | { readonly kind: "survived"; readonly seeds: number };

/**
 * Runs worlds on production code with `mutant` in it until one breaks: the small ones with no fault and with single faults,
 * then random ones of `minutes`, at most `seedsMax`.
 */
export async function hunt(mutant: Mutant, seedsMax: number, minutes: number): Promise<Verdict> {
  const { file, find, replace, also = [], after } = mutant;
  const name = `mutant-${mutant.name.replace(/\W+/g, "-")}`;
  const simulation = await loadSimulation(name, [{ file, find, replace }, ...also]);
  for (const scenario of simulation.calmScenarios) {
    const { report } = await simulation.play(scenario);
    if (report !== undefined) return { kind: "found", seeds: 0, report };
  }
  for (let seed = 1; seed <= Math.min(seedsMax, QUICK_SEEDS); seed += 1) {
    const { report } = await simulation.runSeed(seed, minutes);
    if (report !== undefined) return { kind: "found", seeds: seed, report };
  }
  for (const scenario of simulation.smallScenarios) {
    const { broken } = after
      ? await simulation.exhaust(scenario, 2, undefined, after)
      : await simulation.exhaust(scenario, 1);
    if (broken) return { kind: "found", seeds: QUICK_SEEDS, report: broken.report };
  }
  for (let seed = QUICK_SEEDS + 1; seed <= seedsMax; seed += 1) {
    const { report } = await simulation.runSeed(seed, minutes);
    if (report !== undefined) return { kind: "found", seeds: seed, report };
  }
  return { kind: "survived", seeds: seedsMax };
}
