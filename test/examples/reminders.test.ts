import { BillingMode, CreateTableCommand, DynamoDBClient, ScanCommand } from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { parseSchedule } from "../../lib/core/schedule.ts";
import type { JobContext, JobMap } from "../../lib/jobs/types.ts";
import { LOCAL_CREDENTIALS, LOCAL_REGION } from "../../lib/local/engines/clients.ts";
import { startDynamoDb } from "../../lib/local/engines/dynamodb.ts";
import type { Engine } from "../../lib/local/engines/engine.ts";
import { BUSY_TIMEOUT_MS, type LocalWorld, START_TIMEOUT_MS, startLocalWorld } from "../support/local-world.ts";
import { LIMITS } from "../support/schedules.ts";
import { reminderJobs, reminders } from "./reminders.ts";

vi.setConfig({ testTimeout: BUSY_TIMEOUT_MS });

const INBOX = "Inbox";
let inboxEngine: Engine;
let inbox: DynamoDBClient;
let world: LocalWorld;
/** How often the job was called for each occurrence. */
const calls = new Map<string, number>();

beforeAll(async () => {
  inboxEngine = await startDynamoDb();
  inbox = new DynamoDBClient({
    endpoint: inboxEngine.endpoint,
    region: LOCAL_REGION,
    credentials: LOCAL_CREDENTIALS,
  });
  await inbox.send(
    new CreateTableCommand({
      TableName: INBOX,
      BillingMode: BillingMode.PAY_PER_REQUEST,
      AttributeDefinitions: [{ AttributeName: "id", AttributeType: "S" }],
      KeySchema: [{ AttributeName: "id", KeyType: "HASH" }],
    }),
  );
  world = await startLocalWorld(failingOnce(reminderJobs(inbox, INBOX)));
}, START_TIMEOUT_MS);
afterAll(async () => {
  await world.close();
  inbox.destroy();
  await inboxEngine.close();
});

/** The worst of moments: each first attempt fails once its reminder is in the inbox. */
function failingOnce({ remind }: ReturnType<typeof reminderJobs>): JobMap {
  return {
    remind: async (payload: unknown, context: JobContext) => {
      await remind(payload, context);
      const { occurrenceId } = context.occurrence;
      calls.set(occurrenceId, (calls.get(occurrenceId) ?? 0) + 1);
      if (context.attempt === 1) throw new Error("lost after the reminder was put");
    },
  };
}

it("puts each reminder into the inbox once, though its job runs twice", async () => {
  const now = { at: new Date().toISOString(), timezone: "UTC" };
  const [dentist, standUp] = reminders;
  if (dentist === undefined || standUp === undefined) throw new Error("there must be two reminders");
  const { cron: _, ...recurring } = standUp;
  const retry = { baseDelaySeconds: 0 };
  await world.scheduler.put([
    { ...dentist, ...now, retry, deleteAfterCompletion: false },
    { ...recurring, rate: "1 second", retry },
  ]);
  const rows = await world.untilWritten(async () => {
    const succeeded = [dentist, standUp].map(async ({ scheduleId }) =>
      (await world.history(scheduleId)).filter(({ status }) => status === "SUCCEEDED"),
    );
    const [once = [], often = []] = await Promise.all(succeeded);
    return once.length === 1 && often.length >= 2 ? [...once, ...often.slice(0, 2)] : undefined;
  });
  const { Items = [] } = await inbox.send(new ScanCommand({ TableName: INBOX, ConsistentRead: true }));
  for (const { occurrenceId, scheduledFor } of rows) {
    expect(calls.get(occurrenceId)).toBe(2);
    const put = Items.filter(({ id }) => id?.S === occurrenceId);
    expect(put).toMatchObject([{ to: { S: "ann" }, at: { S: new Date(scheduledFor).toISOString() } }]);
  }
});

it("is made of definitions that fire as they stand", () => {
  expect(reminders.map((reminder) => parseSchedule({ ...reminder }, LIMITS).kind)).toEqual(["valid", "valid"]);
});
