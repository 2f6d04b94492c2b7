import { acknowledgedWhenSafe, deadLettersAreKnown, everyRunEnds } from "./endings.ts";
import type { InvariantOf } from "./invariant.ts";
import { leasesAreLostForACause, liveLeasesAreRespected, oneAttemptActs } from "./leases.ts";
import { effectsAreFenced, nothingIsEarly, staleReportsChangeNothing, startsHaveCauses } from "./runs.ts";
import { attemptsAreCounted, finishedStays, tokensGrowByOne } from "./tokens.ts";

/** Everything that must hold, whatever goes wrong. */
export const INVARIANTS: readonly InvariantOf[] = [
  tokensGrowByOne,
  attemptsAreCounted,
  finishedStays,
  liveLeasesAreRespected,
  leasesAreLostForACause,
  oneAttemptActs,
  startsHaveCauses,
  nothingIsEarly,
  staleReportsChangeNothing,
  effectsAreFenced,
  everyRunEnds,
  deadLettersAreKnown,
  acknowledgedWhenSafe,
];
