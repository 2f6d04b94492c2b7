import { type Instant, plusMs, toIso } from "../core/instant.ts";
import type { ScheduleDefinition } from "../core/schedule-definition.ts";
import type { JobMap } from "../jobs/types.ts";

/** Jobs that show what becomes of a run. */
export const exampleJobs: JobMap = {
  "example-flaky": (_payload, { attempt }) => {
    if (attempt < 3) throw new Error(`attempt ${attempt} fails, the third will not`);
    return { succeededAtAttempt: attempt };
  },
  "example-unlucky": () => {
    throw new Error("no luck this time");
  },
};

/** Schedules that come alive within seconds of `now`: a steady one, one that retries, one that dead-letters, one that fires once. */
export const exampleSchedules = (now: Instant): readonly ScheduleDefinition[] => [
  {
    scheduleId: "example-heartbeat",
    rate: "5 seconds",
    job: "log",
    payload: { hello: "world" },
    effects: "idempotent",
  },
  {
    scheduleId: "example-flaky",
    description: "Fails twice and then succeeds",
    rate: "20 seconds",
    job: "example-flaky",
    retry: { baseDelaySeconds: 1, maxDelaySeconds: 2 },
    effects: "idempotent",
  },
  {
    scheduleId: "example-dead-letter",
    description: "Uses up its two attempts",
    at: toIso(plusMs(now, 6_000)),
    job: "example-unlucky",
    retry: { maxAttempts: 2, baseDelaySeconds: 1 },
    effects: "idempotent",
  },
  {
    scheduleId: "example-one-shot",
    description: "Fires once",
    at: toIso(plusMs(now, 10_000)),
    job: "log",
    payload: "now or never",
    effects: "idempotent",
  },
];
