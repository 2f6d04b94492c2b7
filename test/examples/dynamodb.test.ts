import { BillingMode, CreateTableCommand, DynamoDBClient, GetItemCommand } from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { plusMs } from "../../lib/core/instant.ts";
import { LOCAL_CREDENTIALS, LOCAL_REGION } from "../../lib/local/engines/clients.ts";
import { startDynamoDb } from "../../lib/local/engines/dynamodb.ts";
import type { Engine } from "../../lib/local/engines/engine.ts";
import { fencedStoreContract } from "../support/fences.ts";
import { contextAt } from "../support/job-context.ts";
import { NOON } from "../support/occurrences.ts";
import { writeReport } from "./fenced-write.ts";
import { creditOnce } from "./insert-once.ts";

const TABLE = "UsersOwn";
let engine: Engine;
let dynamodb: DynamoDBClient;
beforeAll(async () => {
  engine = await startDynamoDb();
  dynamodb = new DynamoDBClient({ endpoint: engine.endpoint, region: LOCAL_REGION, credentials: LOCAL_CREDENTIALS });
  await dynamodb.send(
    new CreateTableCommand({
      TableName: TABLE,
      BillingMode: BillingMode.PAY_PER_REQUEST,
      AttributeDefinitions: [{ AttributeName: "id", AttributeType: "S" }],
      KeySchema: [{ AttributeName: "id", KeyType: "HASH" }],
    }),
  );
});
afterAll(async () => {
  dynamodb.destroy();
  await engine.close();
});

const itemOf = async (id: string) =>
  (await dynamodb.send(new GetItemCommand({ TableName: TABLE, Key: { id: { S: id } }, ConsistentRead: true }))).Item;

describe("a write guarded by the fencing token", () => {
  fencedStoreContract(async () => ({
    write: (id, text, fence) => writeReport(dynamodb, TABLE, { id, text }, fence),
    read: async (id) => (await itemOf(id))?.["reportText"]?.S,
  }));
});

describe("a credit marked by the OccurrenceId", () => {
  const credit = { account: "ann", cents: 500 };
  const balance = async () => (await itemOf("account#ann"))?.["cents"]?.N;

  it("is made once for a run, whichever attempt makes it, and again for the next run", async () => {
    const attempts = [1, 2, 3].map((token) => contextAt("interest", NOON, token));
    const made: boolean[] = [];
    for (const attempt of attempts) made.push(await creditOnce(dynamodb, TABLE, credit, attempt));
    expect(made).toEqual([true, false, false]);
    expect(await balance()).toBe("500");
    expect(await creditOnce(dynamodb, TABLE, credit, contextAt("interest", plusMs(NOON, 86_400_000), 1))).toBe(true);
    expect(await balance()).toBe("1000");
  });
});
