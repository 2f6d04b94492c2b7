import { occurrenceIdAt } from "../../lib/core/ids.ts";
import { type Instant, toIso } from "../../lib/core/instant.ts";
import type { JobContext } from "../../lib/jobs/types.ts";

/** What a job is told of an attempt at the run of `scheduleId` at `scheduledFor`, as far as what it stores depends on it. */
export function contextAt(
  scheduleId: string,
  scheduledFor: Instant,
  fencingToken: number,
): Pick<JobContext, "occurrence" | "fencingToken" | "idempotencyKey" | "signal"> {
  const occurrenceId = occurrenceIdAt(scheduleId, scheduledFor);
  const firing = toIso(scheduledFor);
  return {
    occurrence: { occurrenceId, scheduleId, firing, kind: "scheduled", scheduledFor: new Date(scheduledFor) },
    fencingToken,
    idempotencyKey: occurrenceId,
    signal: new AbortController().signal,
  };
}
