import { type DynamoDBClient, paginateScan } from "@aws-sdk/client-dynamodb";
import { occurrenceFrom } from "../../adapters/dynamodb/mapping.ts";
import type { ScheduleStore } from "../../app/ports.ts";
import { INTERNAL_PREFIX } from "../../app/reserved.ts";
import type { ScheduleLimits } from "../../core/schedule.ts";
import { scheduleLine } from "./feed.ts";
import type { View } from "./state.ts";

const PAGE_ROWS = 100;

/** Fills `view` with what the tables hold already, of finished runs only the dead letters. */
export async function loadView(
  view: View,
  client: DynamoDBClient,
  occurrencesTable: string,
  schedules: Pick<ScheduleStore, "list">,
  limits: ScheduleLimits,
): Promise<void> {
  let cursor: string | undefined;
  do {
    const page = await schedules.list({ limit: PAGE_ROWS, ...(cursor !== undefined && { cursor }) });
    for (const item of page.rows) view.putSchedule(scheduleLine(item, limits));
    cursor = page.cursor;
  } while (cursor !== undefined);
  const scan = {
    TableName: occurrencesTable,
    FilterExpression: "#status IN (:pending, :failed, :dead) AND NOT begins_with(#firing, :internal)",
    ExpressionAttributeNames: { "#status": "status", "#firing": "firing" },
    ExpressionAttributeValues: {
      ":pending": { S: "PENDING" },
      ":failed": { S: "FAILED" },
      ":dead": { S: "DEAD_LETTERED" },
      ":internal": { S: INTERNAL_PREFIX },
    },
  };
  for await (const { Items = [] } of paginateScan({ client }, scan)) {
    for (const item of Items) {
      const mapped = occurrenceFrom(item);
      // As its own predecessor: nothing has happened to it while this view was looking.
      if (mapped.kind === "row") view.putOccurrence(mapped.row, mapped.row);
    }
  }
}
