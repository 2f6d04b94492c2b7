import type { Logger } from "../../../lib/app/ports.ts";
import type { JobContext } from "../../../lib/jobs/types.ts";

/** The OccurrenceId of every {@link testContext}. */
export const OCCURRENCE_ID = "0d2f5a5e-7c1b-5d0e-9a35-0c1f1e6f7a11";

/** A line that a job logged. */
export interface Line {
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>> | undefined;
}

/** The context of a run's second attempt, and what the job logs in it. */
export function testContext(signal = new AbortController().signal): { context: JobContext; lines: Line[] } {
  const lines: Line[] = [];
  const write = (message: string, fields?: Readonly<Record<string, unknown>>) => {
    lines.push({ message, fields });
  };
  const logger: Logger = { debug: write, info: write, warn: write, error: write };
  const context: JobContext = {
    occurrence: {
      occurrenceId: OCCURRENCE_ID,
      scheduleId: "hello",
      firing: "2026-11-29T09:00:00.000Z",
      kind: "scheduled",
      scheduledFor: new Date("2026-11-29T09:00:00.000Z"),
    },
    attempt: 2,
    maxAttempts: 10,
    isLastAttempt: false,
    fencingToken: 3,
    idempotencyKey: OCCURRENCE_ID,
    leaseUntil: () => new Date("2026-11-29T09:00:30.000Z"),
    deadline: new Date("2026-11-29T09:01:00.000Z"),
    signal,
    heartbeat: async () => {},
    logger,
  };
  return { context, lines };
}
