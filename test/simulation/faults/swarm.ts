import type { Prng } from "../world/prng.ts";
import type { Fault, FaultPlan, Point } from "./plan.ts";

/** The kinds of fault that an exchange can meet, each with how much of the swarm's misfortune it draws. */
const KINDS = [
  "crash-before",
  "crash-after",
  "request-lost",
  "answer-lost",
  "late-effect",
  "throttled",
  "sent-twice",
  "slow",
  "partial",
  "paused-before",
  "paused-after",
] as const satisfies readonly Fault["kind"][];

/** A pause may outlast the claim lease, the runner's lease, or the visibility timeout. */
const PAUSES_MS = [3_000, 12_000, 35_000, 65_000, 100_000, 340_000] as const;

/**
 * Faults at random, in a swarm (Groce et al., "Swarm Testing", ISSTA 2012): each world leaves some kinds out altogether and has the others at
 * probabilities of its own, so that no kind hides another.
 */
export function swarm(prng: Prng, until: number): FaultPlan {
  const share = prng.pick([0.15, 0.5]);
  const rates = KINDS.map((kind) => ({ kind, rate: prng.chance(share) ? rate(prng) : 0 }));
  const total = rates.reduce((sum, { rate }) => sum + rate, 0);
  const lag = { rate: prng.chance(0.5) ? 0 : prng.next() * 0.3, maxMs: prng.pick([50, 8_000, 40_000]) };
  const dates = { missing: prng.chance(0.7) ? 0 : 0.1, wrong: prng.chance(0.7) ? 0 : 0.02 };
  return {
    exchange: ({ at }: Point): Fault | undefined => {
      if (at >= until || !prng.chance(total)) return undefined;
      let drawn = prng.next() * total;
      for (const { kind, rate } of rates) {
        drawn -= rate;
        if (drawn < 0) return faultOf(kind, prng);
      }
      return undefined;
    },
    indexLagMs: (now) => (now < until && prng.chance(lag.rate) ? prng.whole(1, lag.maxMs) : 0),
    date: (now) => {
      if (now >= until) return { wrongByMs: 0 };
      if (prng.chance(dates.missing)) return "missing";
      return { wrongByMs: prng.chance(dates.wrong) ? wrongByMs(prng) : 0 };
    },
  };
}

/** From one exchange in 400 to one in four. */
const rate = (prng: Prng): number => 10 ** -(0.6 + prng.next() * 2);

/** How far off the hosts of some worlds are, one way or the other, and by how much some are set: twice as far off at most. */
export const HOST_OFF_MS = 20_000;

/** By how much a `Date` header is wrong. One that is so by as much as its host would be believed: two witnesses agree, and nobody could tell. */
function wrongByMs(prng: Prng): number {
  const drawn = prng.whole(-7_200_000, 7_200_000);
  return [HOST_OFF_MS, 2 * HOST_OFF_MS].some((offMs) => Math.abs(Math.abs(drawn) - offMs) < 3_000) ? 0 : drawn;
}

function faultOf(kind: (typeof KINDS)[number], prng: Prng): Fault {
  switch (kind) {
    case "late-effect":
      return { kind, ms: prng.whole(100, 12_000) };
    case "slow":
      return { kind, ms: prng.whole(100, 30_000) };
    case "paused-before":
    case "paused-after":
      return { kind, ms: prng.pick(PAUSES_MS) };
    default:
      return { kind };
  }
}
