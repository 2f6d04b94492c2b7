export { describeTiming } from "./describe.ts";
export { HORIZON } from "./horizon.ts";
export { countFirings, firesAt, firingsBetween, latestFiring, nextFiring } from "./next.ts";
export { parseTiming } from "./parse.ts";
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
} from "./timing.ts";
