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
 * The schedule is still as it was read: every one of `attributes`, by default those that decide what fires, has the value it
 * had, or is still absent. For `undefined`: there is still no such schedule. The names of its values begin with `:was_`, so
 * that an update beside it has its own.
 */
export function asReadCondition(
  item: ScheduleItem | undefined,
  attributes: readonly string[] = AS_READ_ATTRIBUTES,
): Condition {
  if (item === undefined)
    return {
      ConditionExpression: "attribute_not_exists(#scheduleId)",
      ExpressionAttributeNames: { "#scheduleId": "scheduleId" },
    };
  const values = { scheduleId: item.scheduleId, ...pick(item, attributes) };
  const absent = attributes.filter((name) => !(name in values));
  return {
    ConditionExpression: [
      ...Object.keys(values).map((name) => `#${name} = :was_${name}`),
      ...absent.map((name) => `attribute_not_exists(#${name})`),
    ].join(" AND "),
    ExpressionAttributeNames: Object.fromEntries([...Object.keys(values), ...absent].map((name) => [`#${name}`, name])),
    ExpressionAttributeValues: Object.fromEntries(
      Object.entries(values).map(([name, value]) => [`:was_${name}`, fromPlain(value)]),
    ),
  };
}

const pick = (item: ScheduleItem, attributes: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(attributes.filter((name) => item[name] !== undefined).map((name) => [name, item[name]]));
