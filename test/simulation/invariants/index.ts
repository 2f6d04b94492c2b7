import { writesStayWithinBudget } from "./budgets.ts";
import { callsStayWithinBudget } from "./calls.ts";
import { backlogsAreHarmless, delaysLieWithinPolicy, neighboursAreSpared } from "./dispatching.ts";
import { acknowledgedWhenSafe, deadLettersAreKnown, everyRunEnds } from "./endings.ts";
import { historyIsKept, removedStaysRemoved } from "./expiry.ts";
import type { InvariantOf } from "./invariant.ts";
import { leasesAreLostForACause, liveLeasesAreRespected, oneAttemptActs } from "./leases.ts";
import { visitsWrite } from "./looks.ts";
import {
  claimsAreSent,
  headsAreTheDispatchers,
  messagesCarryTheirAttempts,
  revivalsAreAskedFor,
  startsMatchTheirMessages,
} from "./messages.ts";
import { oldestGoesFirst } from "./order.ts";
import { runsTakeTurns } from "./overlap.ts";
import { foreignAttributesStay, schedulesAreLeftAlone } from "./releases.ts";
import {
  effectsAreFenced,
  jobsBeginWithinTheirLease,
  nothingIsEarly,
  staleReportsChangeNothing,
  startsHaveCauses,
} from "./runs.ts";
import { scheduleNewsIsTold } from "./schedule-events.ts";
import {
  cancelsHold,
  chainsGoOn,
  headsFireByTheirDefinition,
  misfiresAreRecordedFirst,
  noInstantIsAbsent,
} from "./schedules.ts";
import { attemptsAreCounted, finishedStays, tokensGrowByOne } from "./tokens.ts";
import { shutdownsAreKept, whatWaitsStaysHidden } from "./workers.ts";

/** Everything that must hold, whatever goes wrong. */
export const INVARIANTS: readonly InvariantOf[] = [
  tokensGrowByOne,
  attemptsAreCounted,
  finishedStays,
  liveLeasesAreRespected,
  leasesAreLostForACause,
  oneAttemptActs,
  runsTakeTurns,
  oldestGoesFirst,
  startsHaveCauses,
  jobsBeginWithinTheirLease,
  nothingIsEarly,
  staleReportsChangeNothing,
  effectsAreFenced,
  everyRunEnds,
  deadLettersAreKnown,
  scheduleNewsIsTold,
  acknowledgedWhenSafe,
  messagesCarryTheirAttempts,
  startsMatchTheirMessages,
  claimsAreSent,
  revivalsAreAskedFor,
  headsAreTheDispatchers,
  headsFireByTheirDefinition,
  misfiresAreRecordedFirst,
  noInstantIsAbsent,
  chainsGoOn,
  cancelsHold,
  delaysLieWithinPolicy,
  visitsWrite,
  backlogsAreHarmless,
  neighboursAreSpared,
  writesStayWithinBudget,
  historyIsKept,
  removedStaysRemoved,
  foreignAttributesStay,
  schedulesAreLeftAlone,
  whatWaitsStaysHidden,
  shutdownsAreKept,
  callsStayWithinBudget,
];
