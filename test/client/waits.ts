import type { Instant } from "../../lib/core/instant.ts";
import type { Occurrence } from "../../lib/core/occurrence.ts";
import type { World } from "./world.ts";

/** What happens to a manual run while somebody waits for it: one change for each time the waiting one sleeps. */
export function whileWaiting(world: World, ...steps: readonly (Partial<Occurrence> | (() => void))[]): Instant[] {
  const slept: Instant[] = [];
  Object.assign(world.manager.clock, {
    sleepUntil: async (until: Instant) => {
      slept.push(until);
      world.pass(until - world.now());
      const step = steps[slept.length - 1];
      if (typeof step === "function") return step();
      const row = world.store.allOccurrences().find(({ kind }) => kind === "manual");
      if (step === undefined || row === undefined) return;
      await world.store.occurrences.write([{ key: row, guard: [], change: { set: step } }]);
    },
  });
  return slept;
}
