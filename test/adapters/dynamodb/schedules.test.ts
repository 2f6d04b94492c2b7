import { BatchGetItemCommand, DeleteItemCommand, ScanCommand, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { describe, expect, it } from "vitest";
import { itemFrom } from "../../../lib/adapters/dynamodb/attribute-value.ts";
import { StoreError } from "../../../lib/app/errors.ts";
import { NOON } from "../../support/occurrences.ts";
import { conditionFailed, metadata, serviceError, stubbedStores } from "./stub.ts";

const HOURLY = { scheduleId: "hourly", rate: "1 hour", payload: { a: 1 } };

describe("putting a schedule", () => {
  it("sets what the author gave and removes what the author left out, by name", async () => {
    const { schedules, dynamodb } = stubbedStores();
    dynamodb.on(UpdateItemCommand).resolves(metadata());
    expect(await schedules.put(HOURLY, "absent")).toBe("put");
    const input = dynamodb.commandCalls(UpdateItemCommand)[0]?.args[0].input;
    expect(input?.UpdateExpression).toMatch(/^SET #rate = :rate, #payload = :payload REMOVE #cron, #at, #timezone/);
    expect(input?.ConditionExpression).toBe("attribute_not_exists(#scheduleId)");
    expect(input?.ExpressionAttributeValues).toEqual({
      ":rate": { S: "1 hour" },
      ":payload": { M: { a: { N: "1" } } },
    });
    expect(JSON.stringify(input)).not.toMatch(/paused|resumedAt|"status"/);
  });

  it("is refused where one stands", async () => {
    const { schedules, dynamodb } = stubbedStores();
    dynamodb.on(UpdateItemCommand).rejects(conditionFailed());
    expect(await schedules.put(HOURLY, "absent")).toBe("refused");
    expect(dynamodb.commandCalls(BatchGetItemCommand)).toEqual([]);
  });

  it.each([
    ["put", { ...HOURLY, status: { state: "ACTIVE" } }],
    ["refused", { ...HOURLY, payload: { a: 2 } }],
  ])("after a lost answer is what stands there: %s", async (outcome, standing) => {
    const { schedules, dynamodb } = stubbedStores();
    dynamodb.on(UpdateItemCommand).rejects(conditionFailed(2));
    dynamodb.on(BatchGetItemCommand).resolves({ Responses: { Schedules: [itemFrom(standing)] }, ...metadata() });
    expect(await schedules.put(HOURLY, "absent")).toBe(outcome);
  });

  it("throws where the request fails", async () => {
    const { schedules, dynamodb } = stubbedStores();
    dynamodb.on(UpdateItemCommand).rejects(serviceError("ThrottlingException", 400));
    await expect(schedules.put(HOURLY, "any")).rejects.toThrow(StoreError);
  });

  it("refuses what DynamoDB has no form for", async () => {
    const { schedules } = stubbedStores();
    await expect(schedules.put({ ...HOURLY, payload: { a: Number.NaN } }, "any")).rejects.toThrow(
      "attribute must be text, a finite number, boolean, null, list or map, got NaN",
    );
  });
});

describe("removing a schedule", () => {
  it.each([
    ["removed", 1, itemFrom(HOURLY)],
    ["missing", 1, undefined],
    ["removed", 2, undefined],
  ] as const)("is %s after %i tries", async (outcome, attempts, Attributes) => {
    const { schedules, dynamodb } = stubbedStores();
    dynamodb.on(DeleteItemCommand).resolves({ ...(Attributes && { Attributes }), ...metadata(attempts) });
    expect(await schedules.remove("hourly")).toBe(outcome);
  });
});

describe("a schedule's status", () => {
  it("is written as a map, with its instant in ISO form", async () => {
    const { schedules, dynamodb } = stubbedStores();
    dynamodb.on(UpdateItemCommand).resolves(metadata());
    await schedules.setStatus(HOURLY, {
      state: "INVALID",
      version: "v",
      since: NOON,
      problem: "cron: no",
      warnings: ["w"],
    });
    const input = dynamodb.commandCalls(UpdateItemCommand)[0]?.args[0].input;
    expect(input?.UpdateExpression).toBe("SET #status = :status");
    expect(input?.ConditionExpression).toContain("#rate = :was_rate AND");
    expect(input?.ExpressionAttributeValues?.[":status"]).toEqual({
      M: {
        state: { S: "INVALID" },
        version: { S: "v" },
        problem: { S: "cron: no" },
        warnings: { L: [{ S: "w" }] },
        since: { S: "2026-11-29T12:00:00.000Z" },
      },
    });
  });

  it("throws where the request fails", async () => {
    const { schedules, dynamodb } = stubbedStores();
    dynamodb.on(UpdateItemCommand).rejects(serviceError("InternalServerError", 500));
    await expect(schedules.setStatus(HOURLY, { state: "ACTIVE", since: NOON })).rejects.toThrow(StoreError);
  });
});

it("lists strange items beside good ones", async () => {
  const { schedules, dynamodb } = stubbedStores();
  const strange = {
    scheduleId: { S: "strange" },
    cron: { NS: ["1", "2"] },
    payload: { N: "1E+125" },
    rate: { B: Uint8Array.of(7) },
  };
  dynamodb.on(ScanCommand).resolves({ Items: [strange, itemFrom(HOURLY)], ...metadata() });
  const { rows } = await schedules.list({ limit: 10 });
  expect(rows.map(({ scheduleId }) => scheduleId)).toEqual(["strange", "hourly"]);
});
