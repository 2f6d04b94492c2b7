import type { Violation } from "../invariants/invariant.ts";

/** What a world came to, and a hash of the way it went. */
interface Played {
  readonly violation: Violation | undefined;
  readonly hash: string;
}

/**
 * What `play` comes to: what happens is written down only where somebody will read it, in a world that broke and is played again.
 * Throws where `world`, as messages call it, does not go the same way each time.
 */
export async function withTimeline<Outcome extends Played>(
  world: string,
  play: (recorded: boolean) => Promise<Outcome>,
): Promise<Outcome> {
  const outcome = await play(false);
  if (outcome.violation === undefined) return outcome;
  const again = await play(true);
  if (again.hash !== outcome.hash || again.violation === undefined)
    throw new Error(`${world} must go the same way each time, and went two ways: ${outcome.violation.message}`);
  return again;
}
