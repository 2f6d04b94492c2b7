import {
  BatchGetItemCommand,
  GetItemCommand,
  QueryCommand,
  TransactionCanceledException,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import { describe, expect, it } from "vitest";
import { itemFrom } from "../../../lib/adapters/dynamodb/attribute-value.ts";
import { StoreError } from "../../../lib/app/errors.ts";
import { plusMs } from "../../../lib/core/instant.ts";
import type { Occurrence } from "../../../lib/core/occurrence.ts";
import { anOccurrence, NOON } from "../../support/occurrences.ts";
import { conditionFailed, metadata, serviceError, stubbedStores } from "./stub.ts";

const rows = (count: number) =>
  Array.from({ length: count }, (_, index) => anOccurrence({ scheduledFor: plusMs(NOON, index * 1_000) }));
const keyOf = ({ scheduleId, firing }: Occurrence) => itemFrom({ scheduleId, firing });
const row = anOccurrence();

describe("reads by key", () => {
  it("are consistent, go out in hundreds and ask for a key once", async () => {
    const { occurrences, dynamodb, reads } = stubbedStores();
    dynamodb.on(BatchGetItemCommand).resolves({ Responses: {}, ...metadata() });
    const verdicts = await occurrences.read([...rows(150), ...rows(2)]);
    expect(verdicts).toHaveLength(152);
    expect(reads().map((items) => items["Occurrences"]?.Keys?.length)).toEqual([100, 50]);
    expect(reads().every((items) => items["Occurrences"]?.ConsistentRead)).toBe(true);
  });

  it("ask again for what was left unprocessed, after longer and longer pauses", async () => {
    const { occurrences, dynamodb, pausesMs } = stubbedStores();
    const [first = row, second = row] = rows(2);
    const left = { UnprocessedKeys: { Occurrences: { Keys: [keyOf(second)] } } };
    dynamodb
      .on(BatchGetItemCommand)
      .resolvesOnce({ Responses: { Occurrences: [itemFrom(first)] }, ...left, ...metadata() })
      .resolvesOnce({ Responses: {}, ...left, ...metadata() })
      .resolvesOnce({ Responses: { Occurrences: [itemFrom(second)] }, ...metadata() });
    const verdicts = await occurrences.read([second, first]);
    expect(verdicts).toEqual([
      { kind: "found", row: second },
      { kind: "found", row: first },
    ]);
    expect(pausesMs).toEqual([25, 50]);
  });

  it("give up on what stays unprocessed, and keep what came", async () => {
    const { occurrences, dynamodb, pausesMs } = stubbedStores();
    const [first = row, second = row] = rows(2);
    const left = { UnprocessedKeys: { Occurrences: { Keys: [keyOf(second)] } } };
    dynamodb
      .on(BatchGetItemCommand)
      .resolvesOnce({ Responses: { Occurrences: [itemFrom(first)] }, ...left, ...metadata() })
      .resolves({ Responses: {}, ...left, ...metadata() });
    const verdicts = await occurrences.read([first, second]);
    expect(verdicts.map(({ kind }) => kind)).toEqual(["found", "failed"]);
    expect(pausesMs).toHaveLength(4);
  });

  it("answer for each key of a request that fails, and of no other", async () => {
    const { occurrences, dynamodb } = stubbedStores();
    dynamodb.on(BatchGetItemCommand).resolves({ Responses: {}, ...metadata() });
    dynamodb
      .on(BatchGetItemCommand)
      .rejectsOnce(serviceError("ThrottlingException", 400))
      .resolves({ ...metadata() });
    const kinds = (await occurrences.read(rows(150))).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === "failed")).toHaveLength(100);
    expect(kinds.filter((kind) => kind === "missing")).toHaveLength(50);
  });

  it("call a row that cannot be read failed, with what is wrong with it", async () => {
    const { occurrences, dynamodb } = stubbedStores();
    const mangled = { ...itemFrom(row), status: { S: "ASLEEP" }, dueAt: { N: "1.5" } };
    dynamodb.on(BatchGetItemCommand).resolves({ Responses: { Occurrences: [mangled] }, ...metadata() });
    const [verdict] = await occurrences.read([row]);
    expect(verdict).toMatchObject({ kind: "failed" });
    expect(verdict?.kind === "failed" && verdict.error.message).toMatch(
      /^row nightly@2026-11-29T12:00:00.000Z cannot be read: .*status.*ASLEEP.*dueAt: must be whole milliseconds/,
    );
  });
});

describe("pages", () => {
  it("of what is due ask the index without a lower bound, oldest first, from the cursor on", async () => {
    const { occurrences, dynamodb } = stubbedStores();
    const last = { ...keyOf(row), shard: { N: "3" }, dueAt: { N: String(NOON) } };
    dynamodb.on(QueryCommand).resolves({ Items: [itemFrom(row)], LastEvaluatedKey: last, ...metadata() });
    const { cursor = "" } = await occurrences.due({ shard: 3, until: NOON, limit: 7 });
    expect(cursor).toMatch(/^[A-Za-z0-9_-]+$/);
    await occurrences.due({ shard: 3, until: NOON, limit: 7, cursor });
    const [first, second] = dynamodb.commandCalls(QueryCommand).map((call) => call.args[0].input);
    expect(first).toEqual({
      TableName: "Occurrences",
      IndexName: "due",
      KeyConditionExpression: "#shard = :shard AND #dueAt <= :until",
      ExpressionAttributeNames: { "#shard": "shard", "#dueAt": "dueAt" },
      ExpressionAttributeValues: { ":shard": { N: "3" }, ":until": { N: String(NOON) } },
      Limit: 7,
    });
    expect(second).toEqual({ ...first, ExclusiveStartKey: last });
  });

  it("leave out a row that cannot be read, and report it: it must not hide its neighbours", async () => {
    const { occurrences, dynamodb, logged } = stubbedStores();
    const mangled = { ...itemFrom(anOccurrence({ scheduleId: "mangled" })), shard: { S: "no number" } };
    dynamodb.on(QueryCommand).resolves({ Items: [mangled, itemFrom(row)], ...metadata() });
    const { rows: found } = await occurrences.due({ shard: 0, until: NOON, limit: 10 });
    expect(found.map(({ scheduleId }) => scheduleId)).toEqual(["nightly"]);
    expect(logged).toEqual([expect.stringContaining("mangled@")]);
  });

  it("of dead letters leave out what the index still shows but the table no longer has", async () => {
    const { occurrences, dynamodb } = stubbedStores();
    const [replayed = row, gone = row, open = row] = rows(3);
    const dead = { ...open, status: "FAILED", deadLetterShard: 1, deadLetteredAt: NOON };
    dynamodb.on(QueryCommand).resolves({ Items: [replayed, gone, open].map(keyOf), ...metadata() });
    dynamodb
      .on(BatchGetItemCommand)
      .resolves({ Responses: { Occurrences: [itemFrom(dead), itemFrom(replayed)] }, ...metadata() });
    expect(await occurrences.deadLetters({ shard: 1, limit: 5 })).toEqual({ rows: [dead] });
  });

  it("of a count go on from page to page, no further than the limit, and without the rows", async () => {
    const { occurrences, dynamodb } = stubbedStores();
    const LastEvaluatedKey = keyOf(row);
    dynamodb
      .on(QueryCommand)
      .resolvesOnce({ Count: 4, LastEvaluatedKey, ...metadata() })
      .resolves({ Count: 3, LastEvaluatedKey, ...metadata() });
    expect(await occurrences.countDeadLetters({ shard: 1, limit: 7 })).toBe(7);
    const asked = dynamodb.commandCalls(QueryCommand).map(({ args: [{ input }] }) => input);
    expect(asked).toMatchObject([
      { IndexName: "dead-letters", Select: "COUNT", Limit: 7 },
      { Limit: 3, ExclusiveStartKey: LastEvaluatedKey },
    ]);
  });

  it("throw where the request fails", async () => {
    const { occurrences, dynamodb } = stubbedStores();
    dynamodb.on(QueryCommand).rejects(serviceError("ThrottlingException", 400));
    await expect(occurrences.due({ shard: 0, until: NOON, limit: 1 })).rejects.toThrow(StoreError);
    await expect(occurrences.due({ shard: 0, until: NOON, limit: 1 })).rejects.toThrow(
      /ThrottlingException: said DynamoDB/,
    );
  });

  it("of dead letters throw where their rows cannot be fetched", async () => {
    const { occurrences, dynamodb } = stubbedStores();
    dynamodb.on(QueryCommand).resolves({ Items: [keyOf(row)], ...metadata() });
    dynamodb.on(BatchGetItemCommand).rejects(serviceError("ThrottlingException", 400));
    await expect(occurrences.deadLetters({ shard: 0, limit: 1 })).rejects.toThrow(StoreError);
  });
});

describe("removing a head", () => {
  const canceled = (...codes: string[]) =>
    new TransactionCanceledException({
      message: "canceled",
      CancellationReasons: codes.map((Code) => ({ Code })),
      ...metadata(1, 400),
    });

  it("checks every attribute of the definition, given or absent, in the same transaction", async () => {
    const { occurrences, dynamodb } = stubbedStores();
    dynamodb.on(TransactWriteItemsCommand).resolves(metadata());
    const schedule = { scheduleId: "nightly", rate: "1 hour", paused: true, status: { state: "ACTIVE" } };
    expect(await occurrences.removeHead(row, schedule)).toBe("removed");
    const [check, remove] = dynamodb.commandCalls(TransactWriteItemsCommand)[0]?.args[0].input.TransactItems ?? [];
    const condition = check?.ConditionCheck?.ConditionExpression ?? "";
    expect(condition).toMatch(
      /^#scheduleId = :was_scheduleId AND #rate = :was_rate AND #paused = :was_paused AND attribute_not_exists/,
    );
    for (const absent of ["cron", "at", "timezone", "enabled", "payload", "resumedAt", "managedBy"])
      expect(condition).toContain(`attribute_not_exists(#${absent})`);
    expect(condition).not.toContain("status");
    expect(remove?.Delete).toEqual({
      TableName: "Occurrences",
      Key: keyOf(row),
      ConditionExpression: "#status = :pending AND #kind = :scheduled AND #token = :zero AND #dueAt = :dueAt",
      ExpressionAttributeNames: { "#status": "status", "#kind": "kind", "#token": "fencingToken", "#dueAt": "dueAt" },
      ExpressionAttributeValues: {
        ":pending": { S: "PENDING" },
        ":scheduled": { S: "scheduled" },
        ":zero": { N: "0" },
        ":dueAt": { N: String(NOON) },
      },
    });
  });

  it.each([
    ["ConditionalCheckFailed", "None"],
    ["None", "TransactionConflict"],
  ])("is refused where somebody else was there (%s, %s)", async (...codes) => {
    const { occurrences, dynamodb } = stubbedStores();
    dynamodb.on(TransactWriteItemsCommand).rejects(canceled(...codes));
    expect(await occurrences.removeHead(row, undefined)).toBe("refused");
  });

  it("throws where DynamoDB could not say", async () => {
    const { occurrences, dynamodb } = stubbedStores();
    dynamodb.on(TransactWriteItemsCommand).rejectsOnce(canceled("ThrottlingError", "None")).rejects(new Error("reset"));
    await expect(occurrences.removeHead(row, undefined)).rejects.toThrow(StoreError);
    await expect(occurrences.removeHead(row, undefined)).rejects.toThrow(StoreError);
  });
});

describe("the most shards ever in use", () => {
  it("are only read where the number is not the most", async () => {
    const { occurrences, dynamodb } = stubbedStores();
    dynamodb.on(GetItemCommand).resolves({ Item: { count: { N: "16" } }, ...metadata() });
    expect(await occurrences.shardHighWater(4)).toBe(16);
    expect(dynamodb.commandCalls(UpdateItemCommand)).toEqual([]);
    expect(dynamodb.commandCalls(GetItemCommand)[0]?.args[0].input).toEqual({
      TableName: "Occurrences",
      Key: { scheduleId: { S: "#shards" }, firing: { S: "#high-water" } },
      ConsistentRead: true,
    });
  });

  it("are read once more where somebody raised them meanwhile", async () => {
    const { occurrences, dynamodb } = stubbedStores();
    dynamodb
      .on(GetItemCommand)
      .resolvesOnce({ ...metadata() })
      .resolvesOnce({ Item: { count: { N: "32" } }, ...metadata() });
    dynamodb.on(UpdateItemCommand).rejects(conditionFailed());
    expect(await occurrences.shardHighWater(8)).toBe(32);
  });

  it("throw where they cannot be recorded", async () => {
    const { occurrences, dynamodb } = stubbedStores();
    dynamodb.on(GetItemCommand).resolves({ ...metadata() });
    dynamodb.on(UpdateItemCommand).rejects(serviceError("ThrottlingException", 400));
    await expect(occurrences.shardHighWater(8)).rejects.toThrow(StoreError);
  });
});
