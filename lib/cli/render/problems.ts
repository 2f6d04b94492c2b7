import type { CheckedDefinition } from "../../client/index.ts";
import { formatProblem } from "../../core/errors.ts";

/** `nightly: cron: must be ...`: every problem of every definition, one a line. */
export const problemLines = (checked: readonly CheckedDefinition[]): string[] =>
  checked.flatMap((one) =>
    one.kind === "valid" ? [] : one.problems.map((problem) => `${one.label}: ${formatProblem(problem)}`),
  );
