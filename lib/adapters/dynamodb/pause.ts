import { ConditionalCheckFailedException, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import type { PauseVerdict, SchedulePause } from "../../app/ports.ts";
import { type Instant, toIso } from "../../core/instant.ts";
import { fromPlain, itemFrom, plainItem } from "./attribute-value.ts";
import { orStoreError } from "./outcome.ts";
import type { DynamoDbStoreOptions } from "./settings.ts";

/** What `isPaused` says of the attribute, as a condition: any value pauses but `false` and null. */
const IS_PAUSED = "attribute_exists(#paused) AND #paused <> :false AND NOT attribute_type(#paused, :null)";
const IS_PAUSED_VALUES = { ":false": fromPlain(false), ":null": fromPlain("NULL") };

/** `ScheduleStore.pause` in one conditional write. Throws `StoreError` when the request fails. */
export const pauseSchedule = (
  options: DynamoDbStoreOptions,
  scheduleId: string,
  { at, ...pause }: SchedulePause,
): Promise<PauseVerdict> => {
  const paused = { ...pause, at: toIso(at) };
  const command = new UpdateItemCommand({
    TableName: options.schedulesTable,
    Key: itemFrom({ scheduleId }),
    UpdateExpression: "SET #paused = :paused",
    ConditionExpression: `attribute_exists(#scheduleId) AND NOT (${IS_PAUSED})`,
    ExpressionAttributeNames: { "#scheduleId": "scheduleId", "#paused": "paused" },
    ExpressionAttributeValues: { ...IS_PAUSED_VALUES, ":paused": fromPlain(paused) },
    ReturnValuesOnConditionCheckFailure: "ALL_OLD",
  });
  return verdictOf(options, command, (item) => pausedAt(item["paused"]) === paused.at);
};

/** `ScheduleStore.resume` in one conditional write. Throws `StoreError` when the request fails. */
export const resumeSchedule = (
  options: DynamoDbStoreOptions,
  scheduleId: string,
  resumedAt: Instant,
): Promise<PauseVerdict> => {
  const iso = toIso(resumedAt);
  const command = new UpdateItemCommand({
    TableName: options.schedulesTable,
    Key: itemFrom({ scheduleId }),
    UpdateExpression: "SET #resumedAt = :resumedAt REMOVE #paused",
    ConditionExpression: IS_PAUSED,
    ExpressionAttributeNames: { "#paused": "paused", "#resumedAt": "resumedAt" },
    ExpressionAttributeValues: { ...IS_PAUSED_VALUES, ":resumedAt": fromPlain(iso) },
    ReturnValuesOnConditionCheckFailure: "ALL_OLD",
  });
  return verdictOf(options, command, (item) => item["resumedAt"] === iso);
};

/** `isMine` tells a refusal that echoes an earlier try, whose answer was lost, from somebody else's write. */
async function verdictOf(
  { client }: DynamoDbStoreOptions,
  command: UpdateItemCommand,
  isMine: (item: Record<string, unknown>) => boolean,
): Promise<PauseVerdict> {
  try {
    await client.send(command);
    return "written";
  } catch (thrown) {
    if (!(thrown instanceof ConditionalCheckFailedException)) return orStoreError(Promise.reject(thrown));
    if (thrown.Item === undefined) return "missing";
    return isMine(plainItem(thrown.Item)) ? "written" : "unchanged";
  }
}

const pausedAt = (paused: unknown): unknown =>
  typeof paused === "object" && paused !== null ? Reflect.get(paused, "at") : undefined;
