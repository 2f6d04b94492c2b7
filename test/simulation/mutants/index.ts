import { CLAIM_MUTANTS } from "./claims.ts";
import { COST_MUTANTS } from "./costs.ts";
import { EXPIRY_MUTANTS } from "./expiry.ts";
import type { Mutant } from "./mutant.ts";
import { POLICY_MUTANTS } from "./policies.ts";
import { RUN_MUTANTS } from "./runs.ts";
import { SCHEDULE_MUTANTS } from "./schedules.ts";
import { WORKER_MUTANTS } from "./workers.ts";

/** Every planted bug. */
export const MUTANTS: readonly Mutant[] = [
  ...CLAIM_MUTANTS,
  ...RUN_MUTANTS,
  ...SCHEDULE_MUTANTS,
  ...POLICY_MUTANTS,
  ...EXPIRY_MUTANTS,
  ...WORKER_MUTANTS,
  ...COST_MUTANTS,
];
