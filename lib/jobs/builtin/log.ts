import type { JobHandler } from "../types.ts";

/** The `log` job: writes the run and its payload as one line of the log. Always succeeds. */
export const logJob: JobHandler = (payload, { occurrence, attempt, logger }) => {
  logger.info("Ran", { ...occurrence, scheduledFor: occurrence.scheduledFor.toISOString(), attempt, payload });
};
