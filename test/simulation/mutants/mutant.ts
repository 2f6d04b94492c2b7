import type { Patch } from "../bundle.ts";
import { loadSimulation } from "../bundle.ts";

/** A planted bug: one change of production code, and others that it needs to show. */
export interface Mutant extends Patch {
  readonly name: string;
  readonly also?: readonly Patch[];
}

/** How a planted bug was found: after how many worlds, and which invariant it broke; or not at all. */
export type Verdict =
  | { readonly kind: "found"; readonly seeds: number; readonly invariant: string }
  | { readonly kind: "survived"; readonly seeds: number };

/** Runs worlds of `minutes` on production code with `mutant` in it until one breaks, at most `seedsMax`. */
export async function hunt(mutant: Mutant, seedsMax: number, minutes: number): Promise<Verdict> {
  const { file, find, replace, also = [] } = mutant;
  const simulation = await loadSimulation(`mutant-${mutant.name.replace(/\W+/g, "-")}`, [
    { file, find, replace },
    ...also,
  ]);
  for (let seed = 1; seed <= seedsMax; seed += 1) {
    const { violation } = await simulation.runSeed(seed, minutes);
    if (violation !== undefined) return { kind: "found", seeds: seed, invariant: violation.invariant };
  }
  return { kind: "survived", seeds: seedsMax };
}
