import { ConditionalCheckFailedException, type DynamoDBClient, PutItemCommand } from "@aws-sdk/client-dynamodb";
import type { ScheduleDefinition } from "@punctual/aws";
import type { JobMap } from "@punctual/aws/jobs";

/** A reminder for one moment, which leaves with it, and one that comes back every working day. */
export const reminders: readonly ScheduleDefinition[] = [
  {
    scheduleId: "ann.dentist",
    at: "2027-03-02T09:30",
    timezone: "Europe/Rome",
    job: "remind",
    payload: { to: "ann", text: "Dentist at half past ten" },
    effects: "idempotent",
    deleteAfterCompletion: true,
  },
  {
    scheduleId: "ann.stand-up",
    cron: "45 8 * * MON-FRI",
    timezone: "Europe/Rome",
    job: "remind",
    payload: { to: "ann", text: "Stand-up in a quarter of an hour" },
    effects: "idempotent",
    // Nobody wants yesterday's reminders after an outage.
    misfire: { policy: "skip" },
  },
];

/** Puts reminders into an inbox table: each occurrence once, since its OccurrenceId is the key. */
export const reminderJobs = (dynamodb: DynamoDBClient, inboxTable: string) =>
  ({
    remind: async (payload, { occurrence, logger }) => {
      const { to, text } = asReminder(payload);
      const { occurrenceId, scheduledFor } = occurrence;
      const Item = { id: { S: occurrenceId }, to: { S: to }, text: { S: text }, at: { S: scheduledFor.toISOString() } };
      const put = { TableName: inboxTable, Item, ConditionExpression: "attribute_not_exists(id)" };
      try {
        await dynamodb.send(new PutItemCommand(put));
      } catch (error) {
        if (!(error instanceof ConditionalCheckFailedException)) throw error;
        logger.info("an attempt before this one has put the reminder");
      }
    },
  }) satisfies JobMap;

function asReminder(payload: unknown): { to: string; text: string } {
  if (typeof payload === "object" && payload !== null && "to" in payload && "text" in payload)
    return { to: String(payload.to), text: String(payload.text) };
  throw new TypeError(`a reminder must have "to" and "text", got ${JSON.stringify(payload)}`);
}
