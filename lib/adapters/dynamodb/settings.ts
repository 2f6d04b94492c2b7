import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { Logger } from "../../app/ports.ts";

/** What the DynamoDB stores need. */
export interface DynamoDbStoreOptions {
  /** Best from `createDynamoDbClient`, whose timeouts and retries the stores count on. */
  readonly client: DynamoDBClient;
  readonly schedulesTable: string;
  readonly occurrencesTable: string;
  /** Told of rows that cannot be read, which pages leave out. */
  readonly logger: Pick<Logger, "error">;
  /** Requests in flight at a time for one call, {@link DEFAULT_CONCURRENCY} by default. */
  readonly concurrency?: number;
  /** Waits between tries of a read that DynamoDB answered in part; a timer by default. */
  readonly pause?: (delayMs: number) => Promise<void>;
}

/** Requests in flight for one call. 16 batches of 25 cover a second of the highest rate aimed at. */
export const DEFAULT_CONCURRENCY = 16;
