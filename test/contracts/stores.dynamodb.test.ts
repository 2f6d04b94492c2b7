import { afterAll, beforeAll } from "vitest";
import { gatesContract } from "./gates.contract.ts";
import { occurrenceStoreContract } from "./occurrence-store.contract.ts";
import { schedulePauseContract } from "./schedule-pause.contract.ts";
import { scheduleStoreContract } from "./schedule-store.contract.ts";
import { storeEquivalence } from "./store-equivalence.contract.ts";
import { startDynamoDbStores } from "./stores.ts";

/** DynamoDB Local is a Java server: on a busy machine it takes its time to start. */
const START_TIMEOUT_MS = 60_000;

// One server for all of it: starting it costs more than the tests.
let dynamodb: Awaited<ReturnType<typeof startDynamoDbStores>>;
beforeAll(async () => {
  dynamodb = await startDynamoDbStores();
}, START_TIMEOUT_MS);
afterAll(() => dynamodb.close());

occurrenceStoreContract("DynamoDB", () => dynamodb.newStores());
scheduleStoreContract("DynamoDB", () => dynamodb.newStores());
schedulePauseContract("DynamoDB", () => dynamodb.newStores());
storeEquivalence("DynamoDB", () => dynamodb.newStores());
gatesContract("DynamoDB", () => dynamodb.newStores());
