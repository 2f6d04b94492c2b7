import {
  ConditionalCheckFailedException,
  DeleteItemCommand,
  ScanCommand,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import type { Page, PutExpectation, ReadVerdict, ScheduleItem, ScheduleStore } from "../../app/ports.ts";
import { contentHash } from "../../core/ids.ts";
import { toIso } from "../../core/instant.ts";
import { DEFINITION_ATTRIBUTES } from "../../core/schedule-definition.ts";
import { GROUP_INDEX } from "../../runtime/names.ts";
import { asReadCondition } from "./as-read.ts";
import { fromPlain, itemFrom } from "./attribute-value.ts";
import { batchGet, type ReadPlan, rowsOf } from "./batch-get.ts";
import { scheduleItemFrom } from "./mapping.ts";
import { orStoreError } from "./outcome.ts";
import { pageAnswer, pageOf, queryPage, startingAt } from "./pages.ts";
import { pauseSchedule, resumeSchedule } from "./pause.ts";
import type { DynamoDbStoreOptions } from "./settings.ts";

type Query = Parameters<ScheduleStore["list"]>[0];

/** The Schedules table in DynamoDB. All but `read`, which answers per item, throw `StoreError` when a request fails. */
export const createScheduleStore = (options: DynamoDbStoreOptions): ScheduleStore => ({
  read: (scheduleIds) => readSchedules(options, scheduleIds),
  list: (query) => (query.group === undefined ? scan(options, query) : listGroup(options, query, query.group)),
  put: (item, expect) => put(options, item, expect),
  remove: (scheduleId) => remove(options, scheduleId),
  removeAsRead: (asRead) => removeAsRead(options, asRead),
  setStatus: (asRead, status) => setStatus(options, asRead, status),
  pause: (scheduleId, pause) => pauseSchedule(options, scheduleId, pause),
  resume: (scheduleId, resumedAt) => resumeSchedule(options, scheduleId, resumedAt),
});

const plan = ({ schedulesTable }: DynamoDbStoreOptions): ReadPlan<string, ScheduleItem> => ({
  tableName: schedulesTable,
  attributesOf: (scheduleId) => itemFrom({ scheduleId }),
  textOf: (item) => item["scheduleId"]?.S ?? "",
  map: scheduleItemFrom,
});

const readSchedules = (
  options: DynamoDbStoreOptions,
  scheduleIds: readonly string[],
): Promise<ReadVerdict<ScheduleItem>[]> => batchGet(options, plan(options), scheduleIds);

async function scan(options: DynamoDbStoreOptions, { limit, cursor }: Query): Promise<Page<ScheduleItem>> {
  const command = new ScanCommand({ TableName: options.schedulesTable, Limit: limit, ...startingAt(cursor) });
  return pageOf(options, await pageAnswer(options.client.send(command), cursor), scheduleItemFrom);
}

/** The index says who is in the group; the table, read consistently, what they are. */
async function listGroup(
  options: DynamoDbStoreOptions,
  { limit, cursor }: Query,
  group: string,
): Promise<Page<ScheduleItem>> {
  const query = {
    TableName: options.schedulesTable,
    IndexName: GROUP_INDEX,
    KeyConditionExpression: "#group = :group",
    ExpressionAttributeNames: { "#group": "group" },
    ExpressionAttributeValues: itemFrom({ ":group": group }),
    Limit: limit,
  };
  const { rows: members, ...more } = await queryPage(options, query, cursor, scheduleItemFrom);
  const verdicts = await readSchedules(
    options,
    members.map(({ scheduleId }) => scheduleId),
  );
  return { rows: rowsOf(options, verdicts).filter((item) => item["group"] === group), ...more };
}

/** Writes the author's attributes one by one, so that `paused`, `resumedAt` and `status` stay as others wrote them. */
async function put(
  options: DynamoDbStoreOptions,
  item: ScheduleItem,
  expect: PutExpectation,
): Promise<"put" | "refused"> {
  const authored = DEFINITION_ATTRIBUTES.filter((name) => name !== "scheduleId");
  const condition =
    expect === "any" ? undefined : asReadCondition(expect === "absent" ? undefined : expect.asRead, authored);
  const given = authored.filter((name) => item[name] !== undefined);
  const absent = authored.filter((name) => item[name] === undefined);
  const set = given.map((name) => `#${name} = :${name}`).join(", ");
  const remove = absent.map((name) => `#${name}`).join(", ");
  const command = new UpdateItemCommand({
    TableName: options.schedulesTable,
    Key: itemFrom({ scheduleId: item.scheduleId }),
    UpdateExpression: [set && `SET ${set}`, remove && `REMOVE ${remove}`].filter(Boolean).join(" "),
    ...(condition && { ConditionExpression: condition.ConditionExpression }),
    ExpressionAttributeNames: {
      ...Object.fromEntries(authored.map((name) => [`#${name}`, name])),
      ...condition?.ExpressionAttributeNames,
    },
    ...((given.length > 0 || condition?.ExpressionAttributeValues) && {
      ExpressionAttributeValues: {
        ...Object.fromEntries(given.map((name) => [`:${name}`, fromPlain(item[name])])),
        ...condition?.ExpressionAttributeValues,
      },
    }),
  });
  try {
    await options.client.send(command);
    return "put";
  } catch (thrown) {
    if (!(thrown instanceof ConditionalCheckFailedException)) return orStoreError(Promise.reject(thrown));
    return (thrown.$metadata.attempts ?? 1) > 1 && (await stands(options, item)) ? "put" : "refused";
  }
}

/** Whether the definition that stands is the one just put: then an earlier try, whose answer was lost, put it. */
async function stands(options: DynamoDbStoreOptions, item: ScheduleItem): Promise<boolean> {
  const [standing] = rowsOf(options, await readSchedules(options, [item.scheduleId]));
  const definition = (of: ScheduleItem) => contentHash(DEFINITION_ATTRIBUTES.map((name) => of[name]));
  return standing !== undefined && definition(standing) === definition(item);
}

async function remove(options: DynamoDbStoreOptions, scheduleId: string): Promise<"removed" | "missing"> {
  const command = new DeleteItemCommand({
    TableName: options.schedulesTable,
    Key: itemFrom({ scheduleId }),
    ReturnValues: "ALL_OLD",
  });
  const { Attributes, $metadata } = await orStoreError(options.client.send(command));
  // After a second try, "missing" is most likely what the first one left behind.
  return Attributes !== undefined || ($metadata.attempts ?? 1) > 1 ? "removed" : "missing";
}

async function removeAsRead(options: DynamoDbStoreOptions, asRead: ScheduleItem): Promise<"removed" | "refused"> {
  const command = new DeleteItemCommand({
    TableName: options.schedulesTable,
    Key: itemFrom({ scheduleId: asRead.scheduleId }),
    ...asReadCondition(asRead),
  });
  try {
    await options.client.send(command);
    return "removed";
  } catch (thrown) {
    // After a second try it may be gone by the first: whoever asks finds that out from its record.
    if (thrown instanceof ConditionalCheckFailedException) return "refused";
    return orStoreError(Promise.reject(thrown));
  }
}

/** A retry by the SDK does no harm: the write leaves untouched what its condition looks at. */
async function setStatus(
  options: DynamoDbStoreOptions,
  asRead: ScheduleItem,
  { since, ...status }: Parameters<ScheduleStore["setStatus"]>[1],
): Promise<"written" | "refused"> {
  const condition = asReadCondition(asRead);
  const command = new UpdateItemCommand({
    TableName: options.schedulesTable,
    Key: itemFrom({ scheduleId: asRead.scheduleId }),
    UpdateExpression: "SET #status = :status",
    ...condition,
    ExpressionAttributeNames: { ...condition.ExpressionAttributeNames, "#status": "status" },
    ExpressionAttributeValues: {
      ...condition.ExpressionAttributeValues,
      ":status": fromPlain({ ...status, since: toIso(since) }),
    },
  });
  try {
    await options.client.send(command);
    return "written";
  } catch (thrown) {
    if (thrown instanceof ConditionalCheckFailedException) return "refused";
    return orStoreError(Promise.reject(thrown));
  }
}
