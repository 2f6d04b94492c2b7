import { type Firing, nextFiring, type Timing } from "../core/firing/index.ts";
import type { Instant } from "../core/instant.ts";

/** The next `count` firings after `after`, fewer where the schedule ends. */
export function upcoming(timing: Timing, after: Instant, count: number): readonly Firing[] {
  const firings: Firing[] = [];
  let firing = nextFiring(timing, after);
  while (firing !== undefined && firings.length < count) {
    firings.push(firing);
    firing = nextFiring(timing, firing.scheduledFor);
  }
  return firings;
}
