import { type DynamoDBClient, TransactionCanceledException, TransactWriteItemsCommand } from "@aws-sdk/client-dynamodb";
import type { JobContext } from "@punctual/aws/jobs";

/**
 * Credits an account once for each run, however often the run is tried: the credit and the mark that it was made are
 * written together or not at all. `false`: an attempt before this one has credited it.
 */
export async function creditOnce(
  dynamodb: DynamoDBClient,
  tableName: string,
  credit: { readonly account: string; readonly cents: number },
  { occurrence }: Pick<JobContext, "occurrence">,
): Promise<boolean> {
  const mark = {
    TableName: tableName,
    Item: { id: { S: `credited#${occurrence.occurrenceId}` } },
    ConditionExpression: "attribute_not_exists(id)",
  };
  const balance = {
    TableName: tableName,
    Key: { id: { S: `account#${credit.account}` } },
    UpdateExpression: "ADD cents :cents",
    ExpressionAttributeValues: { ":cents": { N: String(credit.cents) } },
  };
  try {
    await dynamodb.send(new TransactWriteItemsCommand({ TransactItems: [{ Put: mark }, { Update: balance }] }));
    return true;
  } catch (error) {
    if (!(error instanceof TransactionCanceledException)) throw error;
    if (error.CancellationReasons?.[0]?.Code === "ConditionalCheckFailed") return false;
    throw error;
  }
}
