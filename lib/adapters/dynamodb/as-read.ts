import { AS_READ_ATTRIBUTES } from "../../app/as-read.ts";
import type { ScheduleItem } from "../../app/ports.ts";
import { fromPlain, type Item } from "./attribute-value.ts";

/** A DynamoDB condition expression with its names and values. */
export interface Condition {
  readonly ConditionExpression: string;
  readonly ExpressionAttributeNames: Record<string, string>;
  readonly ExpressionAttributeValues?: Item;
}

/**
 * The schedule is still as it was read: every attribute that decides what fires has the value it had, or is still absent.
 * For `undefined`: there is still no such schedule.
 */
export function asReadCondition(item: ScheduleItem | undefined): Condition {
  if (item === undefined)
    return {
      ConditionExpression: "attribute_not_exists(#scheduleId)",
      ExpressionAttributeNames: { "#scheduleId": "scheduleId" },
    };
  const values = { scheduleId: item.scheduleId, ...pick(item) };
  const absent = AS_READ_ATTRIBUTES.filter((name) => !(name in values));
  return {
    ConditionExpression: [
      ...Object.keys(values).map((name) => `#${name} = :${name}`),
      ...absent.map((name) => `attribute_not_exists(#${name})`),
    ].join(" AND "),
    ExpressionAttributeNames: Object.fromEntries([...Object.keys(values), ...absent].map((name) => [`#${name}`, name])),
    ExpressionAttributeValues: Object.fromEntries(
      Object.entries(values).map(([name, value]) => [`:${name}`, fromPlain(value)]),
    ),
  };
}

const pick = (item: ScheduleItem): Record<string, unknown> =>
  Object.fromEntries(AS_READ_ATTRIBUTES.filter((name) => item[name] !== undefined).map((name) => [name, item[name]]));
