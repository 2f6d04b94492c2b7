import * as z from "zod";
import { InvalidCursorError } from "../../app/errors.ts";
import type { Item } from "./attribute-value.ts";

/** Keys of tables and indexes are text and numbers here. */
const position = z.record(z.string(), z.union([z.strictObject({ S: z.string() }), z.strictObject({ N: z.string() })]));

/** DynamoDB's `LastEvaluatedKey` as an opaque text: base64url of its JSON. */
export const cursorFrom = (lastEvaluatedKey: Item): string =>
  Buffer.from(JSON.stringify(lastEvaluatedKey)).toString("base64url");

/** What {@link cursorFrom} was given. Throws {@link InvalidCursorError} for any other text. */
export function positionOf(cursor: string): Item {
  try {
    return position.parse(JSON.parse(Buffer.from(cursor, "base64url").toString("utf8")));
  } catch (cause) {
    throw new InvalidCursorError(cursor, { cause });
  }
}
