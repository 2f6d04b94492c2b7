export { describeTiming } from "./describe.ts";
export { HORIZON, HORIZON_YEAR } from "./horizon.ts";
export { countFirings, firesAt, firingsBetween, latestFiring, nextFiring } from "./next.ts";
export { MAX_JITTER_SECONDS, parseTiming } from "./parse.ts";
export {
  type DstPolicy,
  type Firing,
  GAP_POLICIES,
  type GapPolicy,
  REPEATED_POLICIES,
  type RepeatedPolicy,
  type Resolution,
  type Timing,
  type TimingDefinition,
  type TimingResult,
} from "./timing.ts";
