import type { Prng } from "../world/prng.ts";
import type { Process } from "../world/process.ts";
import type { World } from "../world/world.ts";

/** How often, on average, each kind of accident strikes some process. */
export interface AccidentRates {
  readonly everyMs: number;
  readonly kinds: readonly ("killed" | "paused" | "cut-off")[];
}

/** Strikes processes at random moments, not only at their exchanges: until `until`, kills, freezes or cuts one off at a time. */
export function strike(world: World, prng: Prng, { everyMs, kinds }: AccidentRates, until: number): void {
  const next = () => {
    if (world.kernel.now >= until || kinds.length === 0) return;
    const victims = [...world.live];
    if (victims.length > 0) befall(world, prng, prng.pick(victims), prng.pick(kinds));
    world.kernel.after(prng.whole(1, 2 * everyMs), next);
  };
  world.kernel.after(prng.whole(1, 2 * everyMs), next);
}

function befall(world: World, prng: Prng, victim: Process, kind: string): void {
  switch (kind) {
    case "killed":
      victim.suffer("killed", victim.name);
      victim.kill("killed from outside");
      return;
    case "paused":
      victim.suffer("frozen", victim.name);
      victim.pause(prng.pick([2_000, 20_000, 50_000, 120_000]));
      return;
    default: {
      const service = prng.pick(["store", "queue"] as const);
      victim.suffer(`cut-off-from-${service}`, victim.name);
      victim.cutOff.add(service);
      world.kernel.after(prng.pick([3_000, 25_000, 90_000]), () => victim.cutOff.delete(service));
    }
  }
}
