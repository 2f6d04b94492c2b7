import * as z from "zod";
import type { EventBus } from "../../app/ports.ts";
import { jsonValue } from "../../core/validation.ts";
import { PermanentError, RetryableError } from "../outcomes.ts";
import type { CheckedJob } from "../types.ts";

/** EventBridge's longest detail type, in characters (Amazon EventBridge API Reference, "PutEventsRequestEntry"). */
const DETAIL_TYPE_MAX_CHARACTERS = 128;

const payloadSchema = z.strictObject({
  detailType: z
    .string("must be text")
    .min(1, "must not be empty")
    .max(DETAIL_TYPE_MAX_CHARACTERS, `must be at most ${DETAIL_TYPE_MAX_CHARACTERS} characters`),
  detail: z.record(z.string(), jsonValue("must be a JSON value"), "must be an object").default({}),
});

/** What the `event` job's payload says: the event's type and, by default empty, its detail. */
export type EventPayload = z.infer<typeof payloadSchema>;

/**
 * The `event` job: puts an event on `bus`, which should have a source of its own, lest rules take it for an announcement; without one
 * the deployment does not allow it. The detail is the payload's, and `punctual` in it names the run, by whose `occurrenceId` a
 * target knows a repeat.
 */
export const createEventJob = (bus: EventBus | undefined): CheckedJob<EventPayload> => ({
  schema: payloadSchema,
  handler: async ({ detailType, detail }, { occurrence, attempt, fencingToken }) => {
    if (bus === undefined)
      throw new PermanentError("the event job must be allowed by the deployment's eventJobSource, which is not set");
    const scheduledFor = occurrence.scheduledFor.toISOString();
    const punctual = { ...occurrence, scheduledFor, attempt, fencingToken };
    for (const answer of await bus.publish([{ detailType, detail: { ...detail, punctual } }]))
      if (answer.kind === "failed")
        throw new RetryableError("the event did not get to the bus", { cause: answer.error });
  },
});
