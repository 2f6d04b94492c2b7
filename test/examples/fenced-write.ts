import { ConditionalCheckFailedException, type DynamoDBClient, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import type { JobContext } from "@punctual/aws/jobs";

/**
 * Writes the newest report. `false`: a later run, or a later attempt of this one, has written already, and this worker is
 * stale. The fence of one run is its token; across the runs of a schedule it is (scheduledFor, token).
 */
export async function writeReport(
  dynamodb: DynamoDBClient,
  tableName: string,
  report: { readonly id: string; readonly text: string },
  { occurrence, fencingToken }: Pick<JobContext, "occurrence" | "fencingToken">,
): Promise<boolean> {
  const write = new UpdateItemCommand({
    TableName: tableName,
    Key: { id: { S: report.id } },
    UpdateExpression: "SET reportText = :text, scheduledFor = :scheduledFor, fencingToken = :token",
    ConditionExpression:
      "attribute_not_exists(id) OR scheduledFor < :scheduledFor OR (scheduledFor = :scheduledFor AND fencingToken <= :token)",
    ExpressionAttributeValues: {
      ":text": { S: report.text },
      ":scheduledFor": { N: String(occurrence.scheduledFor.getTime()) },
      ":token": { N: String(fencingToken) },
    },
  });
  try {
    await dynamodb.send(write);
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
}
