import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { createOccurrenceStore } from "../../lib/adapters/dynamodb/occurrences.ts";
import { createScheduleStore } from "../../lib/adapters/dynamodb/schedules.ts";
import { createMemoryStore } from "../../lib/adapters/memory/store.ts";
import type { OccurrenceStore, ScheduleItem, ScheduleStore } from "../../lib/app/ports.ts";
import { startTestDynamoDb } from "../support/dynamodb-local.ts";
import { NOON } from "../support/occurrences.ts";

/** Both tables of one test's own world. */
export interface Stores {
  readonly occurrences: OccurrenceStore;
  readonly schedules: ScheduleStore;
  /** A user's own `PutItem`, past every port. */
  putItem(item: ScheduleItem): Promise<void>;
}

/** Empty stores in memory. */
export function newMemoryStores(): Stores {
  const { occurrences, schedules, putItem } = createMemoryStore({ now: () => NOON });
  return { occurrences, schedules, putItem: async (item) => putItem(item) };
}

/** Stores in DynamoDB Local, started once for a file; each call makes empty ones. A row that cannot be read fails the test. */
export async function startDynamoDbStores(): Promise<{ newStores(): Promise<Stores>; close(): Promise<void> }> {
  const dynamodb = await startTestDynamoDb();
  // One try: after a second one a verdict may rightly be another, and on a busy machine DynamoDB Local is slow.
  const client = new DynamoDBClient({ ...dynamodb.clientConfig, maxAttempts: 1 });
  const logger = {
    error: (message: string, fields?: object) => {
      throw new Error(`${message}: ${JSON.stringify(fields)}`);
    },
  };
  return {
    newStores: async () => {
      const options = { client, logger, ...(await dynamodb.newTables()) };
      return {
        occurrences: createOccurrenceStore(options),
        schedules: createScheduleStore(options),
        putItem: (item) => dynamodb.putItem(options.schedulesTable, item),
      };
    },
    close: async () => {
      client.destroy();
      await dynamodb.close();
    },
  };
}
