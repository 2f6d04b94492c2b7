import { execFile } from "node:child_process";
import { promisify } from "node:util";
import {
  type AttributeValue,
  DeleteItemCommand,
  type DynamoDBClient,
  PutItemCommand,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import { LOCAL_CREDENTIALS, LOCAL_REGION } from "../../lib/local/engines/clients.ts";

type Item = Record<string, AttributeValue>;

/** How a user writes to the Schedules table past every interface of this project. */
export interface TableWriter {
  put(item: Item): Promise<void>;
  setRate(scheduleId: string, rate: string): Promise<void>;
  remove(scheduleId: string): Promise<void>;
}

// `rate` is none of DynamoDB's reserved words, but a user who has met `at` or `timezone` writes names for all.
const SET_RATE = { expression: "SET #rate = :rate", names: { "#rate": "rate" } };

/** Writes with the SDK's own commands. */
export const sdkWriter = (client: DynamoDBClient, TableName: string): TableWriter => ({
  put: async (Item) => {
    await client.send(new PutItemCommand({ TableName, Item }));
  },
  setRate: async (scheduleId, rate) => {
    await client.send(
      new UpdateItemCommand({
        TableName,
        Key: { scheduleId: { S: scheduleId } },
        UpdateExpression: SET_RATE.expression,
        ExpressionAttributeNames: SET_RATE.names,
        ExpressionAttributeValues: { ":rate": { S: rate } },
      }),
    );
  },
  remove: async (scheduleId) => {
    await client.send(new DeleteItemCommand({ TableName, Key: { scheduleId: { S: scheduleId } } }));
  },
});

/** Writes with the AWS CLI on the `PATH`. */
export function cliWriter(endpoint: string, tableName: string): TableWriter {
  const { accessKeyId, secretAccessKey } = LOCAL_CREDENTIALS;
  const env = { ...process.env, AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey };
  const dynamodb = async (command: string, ...args: string[]): Promise<void> => {
    const common = ["--region", LOCAL_REGION, "--endpoint-url", endpoint, "dynamodb", command];
    await promisify(execFile)("aws", [...common, "--table-name", tableName, ...args], { env });
  };
  const key = (scheduleId: string) => ["--key", JSON.stringify({ scheduleId: { S: scheduleId } })];
  return {
    put: (item) => dynamodb("put-item", "--item", JSON.stringify(item)),
    setRate: (scheduleId, rate) =>
      dynamodb(
        "update-item",
        ...key(scheduleId),
        ...["--update-expression", SET_RATE.expression],
        ...["--expression-attribute-names", JSON.stringify(SET_RATE.names)],
        ...["--expression-attribute-values", JSON.stringify({ ":rate": { S: rate } })],
      ),
    remove: (scheduleId) => dynamodb("delete-item", ...key(scheduleId)),
  };
}

/** Whether the AWS CLI is on the `PATH` and runs. */
export const hasAwsCli = (): Promise<boolean> =>
  promisify(execFile)("aws", ["--version"]).then(
    () => true,
    () => false,
  );
