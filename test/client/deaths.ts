import { type Instant, plusMs } from "../../lib/core/instant.ts";
import type { Occurrence } from "../../lib/core/occurrence.ts";
import { anOccurrence, NOON } from "../support/occurrences.ts";

/** A dead letter of `scheduleId`, that died `diedMs` after noon. */
export function aDeadLetter(scheduleId: string, diedMs: number, given: Partial<Occurrence> = {}): Occurrence {
  const scheduledFor: Instant = plusMs(NOON, diedMs - 1_000);
  const { dueAt: _, ...row } = anOccurrence({ scheduleId, scheduledFor });
  return {
    ...row,
    status: "DEAD_LETTERED",
    attempts: 10,
    fencingToken: 10,
    startedAt: scheduledFor,
    endedAt: plusMs(NOON, diedMs),
    deadLetterReason: "attempts-exhausted",
    deadLetterShard: row.shard,
    deadLetteredAt: plusMs(NOON, diedMs),
    lastError: { name: "TypeError", message: "cannot read\nproperties" },
    log: [
      {
        token: 10,
        attempt: 10,
        startedAt: scheduledFor,
        endedAt: plusMs(NOON, diedMs),
        error: { name: "TypeError", message: "cannot read properties" },
        logs: "/aws/lambda/consumer 2026/11/29/[$LATEST]abc 1234-5678",
      },
    ],
    ...given,
  };
}
