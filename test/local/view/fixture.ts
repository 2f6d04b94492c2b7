import { type Instant, instant } from "../../../lib/core/instant.ts";
import type { Occurrence } from "../../../lib/core/occurrence.ts";
import { DEFAULT_RETRY } from "../../../lib/core/retry.ts";
import { DEFAULT_MISFIRE } from "../../../lib/core/schedule.ts";

/** Noon of a quiet day, plus `ms`. */
export const noon = (ms = 0): Instant => instant(Date.parse("2026-11-29T12:00:00.000Z") + ms);

/** A head of `scheduleId` at noon, with `changes`. */
export const occurrence = (scheduleId: string, changes: Partial<Occurrence> = {}): Occurrence => ({
  scheduleId,
  firing: "2026-11-29T12:00:00.000Z",
  occurrenceId: "8d6e8b70-0000-5000-8000-000000000000",
  kind: "scheduled",
  status: "PENDING",
  scheduledFor: noon(),
  dueAt: noon(),
  shard: 0,
  attempts: 0,
  maxAttempts: 3,
  fencingToken: 0,
  firstDueAt: noon(),
  startDeadlineSeconds: 86_400,
  scheduleVersion: "v1",
  queue: "default",
  retry: DEFAULT_RETRY,
  payload: "{}",
  job: "default",
  timeoutSeconds: 60,
  timezone: "UTC",
  misfirePolicy: DEFAULT_MISFIRE,
  overlap: "allow",
  log: [],
  createdAt: noon(-60_000),
  ...changes,
});

/** The same after its first attempt, started 12 ms late. */
export const attempted = (scheduleId: string, changes: Partial<Occurrence>): Occurrence =>
  occurrence(scheduleId, {
    attempts: 1,
    fencingToken: 1,
    log: [{ token: 1, attempt: 1, startedAt: noon(12) }],
    ...changes,
  });
