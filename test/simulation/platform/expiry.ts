import type { DynamoDBRecord } from "aws-lambda";
import { formatKey } from "../../../lib/core/occurrence.ts";
import type { World } from "../world/world.ts";

/** How the table's TTL removes what has expired. */
export interface ExpiryOptions {
  /** How long after a row may be removed it is: some days at most, as a rule (Amazon DynamoDB Developer Guide, "Time to Live"). */
  readonly delayMs: () => number;
  /** Whether a removal's record reaches the streams' readers, past their filters. */
  readonly unfiltered: () => boolean;
}

/**
 * Who a stream record names where the TTL removed the row (Amazon DynamoDB Developer Guide, "DynamoDB Streams and Time to
 * Live").
 */
export const TTL_IDENTITY = {
  type: "Service",
  principalId: "dynamodb.amazonaws.com",
} as const satisfies DynamoDBRecord["userIdentity"];

/**
 * Removes each row of Occurrences some time after its `expiresAtSeconds`, never before by the table's own clock, and whatever
 * the row says otherwise.
 */
export function expire(world: World, { delayMs }: Pick<ExpiryOptions, "delayMs">): void {
  const { kernel, store } = world;
  store.occurrenceChanges.subscribe(({ key, old, new: row }) => {
    const at = row?.expiresAtSeconds;
    if (at === undefined || at === old?.expiresAtSeconds) return;
    kernel.at(at * 1000 + 1 + delayMs(), () => {
      const standing = world.row(key);
      if (standing?.expiresAtSeconds !== at) return;
      world.tell({ type: "expired", key: formatKey(standing), row: standing }, undefined);
      void store.occurrences.remove([{ key: standing, guard: [] }]);
    });
  });
}
