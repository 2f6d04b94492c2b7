import type { CheckedDefinition } from "../../client/index.ts";

/** `nightly: cron: must be ...`: every problem of every definition, one a line. */
export const problemLines = (checked: readonly CheckedDefinition[]): string[] =>
  checked.flatMap((one) =>
    one.kind === "valid"
      ? []
      : one.problems.map(({ path, message }) => `${one.label}: ${path === "" ? message : `${path}: ${message}`}`),
  );
