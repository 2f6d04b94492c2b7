import { DEFINITION_ATTRIBUTES } from "../core/schedule-definition.ts";

/**
 * The attributes that make a schedule's item "as it was read": the definition, and what pauses it. `status` is left out,
 * since the system itself writes it without changing what fires.
 */
export const AS_READ_ATTRIBUTES: readonly string[] = [
  ...DEFINITION_ATTRIBUTES.filter((attribute) => attribute !== "scheduleId"),
  "paused",
  "resumedAt",
];
