import { occurrenceIdAt } from "../../lib/core/ids.ts";
import { instant, toIso } from "../../lib/core/instant.ts";
import type { Occurrence } from "../../lib/core/occurrence.ts";
import { DEFAULT_RETRY } from "../../lib/core/retry.ts";
import { DEFAULT_MISFIRE } from "../../lib/core/schedule.ts";

/** Noon of a day, as good as any. */
export const NOON = instant(Date.UTC(2026, 10, 29, 12));

/** A head that fell due at {@link NOON}, with what `given` says otherwise. */
export function anOccurrence(given: Partial<Occurrence> = {}): Occurrence {
  const { scheduleId = "nightly", scheduledFor = NOON } = given;
  return {
    scheduleId,
    firing: toIso(scheduledFor),
    occurrenceId: occurrenceIdAt(scheduleId, scheduledFor),
    kind: "scheduled",
    status: "PENDING",
    scheduledFor,
    dueAt: scheduledFor,
    shard: 0,
    attempts: 0,
    maxAttempts: DEFAULT_RETRY.maxAttempts,
    fencingToken: 0,
    firstDueAt: scheduledFor,
    startDeadlineSeconds: 86_400,
    scheduleVersion: "0123456789abcdef",
    payload: '{"to":"you","n":12345678901234567890}',
    job: "send",
    queue: "default",
    retry: DEFAULT_RETRY,
    timeoutSeconds: 60,
    timezone: "Europe/Berlin",
    misfirePolicy: DEFAULT_MISFIRE,
    overlap: "allow",
    log: [],
    createdAt: scheduledFor,
    ...given,
  };
}
