import * as z from "zod";
import { InvalidCursorError } from "../../app/errors.ts";
import type { Page } from "../../app/ports.ts";

/** Where a row stands in an order: compared member by member. */
export type Position = readonly (string | number)[];

const position: z.ZodType<Position> = z.array(z.union([z.string(), z.number()]));

/**
 * One page of `rows` in the order of their positions, as DynamoDB gives it: from the cursor's position on, whether or not a
 * row still stands there, with a cursor wherever the limit was reached.
 */
export function page<Row>(
  rows: readonly Row[],
  positionOf: (row: Row) => Position,
  { limit, cursor, descending = false }: { limit: number; cursor?: string | undefined; descending?: boolean },
): Page<Row> {
  const start = cursor === undefined ? undefined : decode(cursor);
  const direction = descending ? -1 : 1;
  const ordered = rows
    .map((row) => ({ row, at: positionOf(row) }))
    .filter(({ at }) => start === undefined || direction * compare(at, start) > 0)
    .sort((left, right) => direction * compare(left.at, right.at));
  const shown = ordered.slice(0, limit);
  const last = shown.length === limit ? shown.at(-1) : undefined;
  const found = shown.map(({ row }) => row);
  return last === undefined ? { rows: found } : { rows: found, cursor: encode(last.at) };
}

const encode = (at: Position): string => Buffer.from(JSON.stringify(at)).toString("base64url");

function decode(cursor: string): Position {
  try {
    return position.parse(JSON.parse(Buffer.from(cursor, "base64url").toString("utf8")));
  } catch (cause) {
    throw new InvalidCursorError(cursor, { cause });
  }
}

function compare(left: Position, right: Position): number {
  for (const [index, one] of left.entries()) {
    const other = right[index];
    const order =
      typeof one === "number" && typeof other === "number" ? one - other : compareText(String(one), String(other));
    if (order !== 0) return order;
  }
  return 0;
}

/** By UTF-8 bytes, as DynamoDB orders text (Amazon DynamoDB Developer Guide, "Data types: String"). */
export const compareText = (left: string, right: string): number =>
  left === right ? 0 : Buffer.compare(Buffer.from(left), Buffer.from(right));
