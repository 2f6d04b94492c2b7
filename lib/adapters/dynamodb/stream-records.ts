import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import type { DynamoDBRecord, AttributeValue as EventValue } from "aws-lambda";
import type { RowChange } from "../../app/engine/announce.ts";
import type { ItemChange } from "../../app/engine/announce-schedules.ts";
import type { Written } from "../../app/engine/reconcile.ts";
import { INTERNAL_PREFIX } from "../../app/reserved.ts";
import { instant } from "../../core/instant.ts";
import { definitionVersion } from "../../core/schedule-version.ts";
import { type Item, plainItem } from "./attribute-value.ts";
import { type Mapped, occurrenceFrom } from "./mapping.ts";

/**
 * A change that calls for a reconcile. Of a schedule's item: whose, when and what was written, and the item before and after it. Of
 * a row of Occurrences, which says nothing of those: whose. What the definition is by now is to be read anew.
 */
export function scheduleChange({ dynamodb: change }: DynamoDBRecord): {
  readonly scheduleId: string;
  readonly written?: Written;
  readonly images: ItemChange;
} {
  const scheduleId = change?.Keys?.["scheduleId"]?.S ?? "";
  if (change?.Keys?.["firing"] !== undefined) return { scheduleId, images: {} };
  const before = change?.OldImage && plainItem(itemOf(change.OldImage));
  const after = change?.NewImage && plainItem(itemOf(change.NewImage));
  const images = { ...(before && { before }), ...(after && { after }) };
  // Seconds, rounded down (Amazon DynamoDB Streams API Reference, "StreamRecord"): the firings of a definition that was
  // written within a second count from that second on, which no whole-second firing can tell from the exact time.
  const createdSeconds = change?.ApproximateCreationDateTime;
  if (createdSeconds === undefined) return { scheduleId, images };
  const version = after && definitionVersion(after);
  return { scheduleId, images, written: { at: instant(Math.floor(createdSeconds * 1000)), version } };
}

/** A change of an occurrence's row; nothing for a removed row or one of the system's own. */
export function rowChange({
  dynamodb: change,
}: DynamoDBRecord):
  | { readonly kind: "change"; readonly before?: RowChange["after"]; readonly after: RowChange["after"] }
  | Extract<Mapped<never>, { kind: "malformed" }>
  | { readonly kind: "nothing" } {
  if (change?.NewImage === undefined || change.Keys?.["firing"]?.S?.startsWith(INTERNAL_PREFIX))
    return { kind: "nothing" };
  const after = occurrenceFrom(itemOf(change.NewImage));
  if (after.kind === "malformed") return after;
  const before = change.OldImage && occurrenceFrom(itemOf(change.OldImage));
  return { kind: "change", after: after.row, ...(before?.kind === "row" && { before: before.row }) };
}

const itemOf = (image: Readonly<Record<string, EventValue>>): Item =>
  Object.fromEntries(Object.entries(image).map(([name, value]) => [name, attributeOf(value)]));

/** Lambda's event is JSON: it has binary values as base64 where the SDK has bytes. */
function attributeOf(value: EventValue): AttributeValue {
  if (value.S !== undefined) return { S: value.S };
  if (value.N !== undefined) return { N: value.N };
  if (value.BOOL !== undefined) return { BOOL: value.BOOL };
  if (value.M !== undefined) return { M: itemOf(value.M) };
  if (value.L !== undefined) return { L: value.L.map(attributeOf) };
  if (value.B !== undefined) return { B: Buffer.from(value.B, "base64") };
  if (value.SS !== undefined) return { SS: value.SS };
  if (value.NS !== undefined) return { NS: value.NS };
  if (value.BS !== undefined) return { BS: value.BS.map((bytes) => Buffer.from(bytes, "base64")) };
  return { NULL: true };
}
