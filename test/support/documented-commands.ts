import { readFileSync } from "node:fs";
import path from "node:path";
import {
  type AttributeValue,
  DeleteItemCommand,
  type DynamoDBClient,
  PutItemCommand,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import * as z from "zod";
import { ROOT } from "../structure/source-files.ts";

/** How a page writes the name of the Schedules table. */
const TABLE_PLACEHOLDER = "<SchedulesTable>";

/** An `aws dynamodb` command as a page prints it, its lines joined as a shell joins them. */
export function documentedCommands(page: string): string[] {
  const text = readFileSync(path.join(ROOT, page), "utf8").replaceAll("\\\n", " ");
  return text.split("\n").filter((line) => line.startsWith("aws dynamodb "));
}

const names = z.record(z.string(), z.string());
const items = z.record(
  z.string(),
  z.custom<AttributeValue>((value) => typeof value === "object" && value !== null),
);
const json = <Schema extends z.ZodType>(schema: Schema) =>
  z
    .string()
    .transform((text): unknown => JSON.parse(text))
    .pipe(schema);
/** The flags that pages use, under the names that the API has for them. Any other is an error. */
const flags = z
  .strictObject({
    "table-name": z.literal(TABLE_PLACEHOLDER),
    item: json(items).optional(),
    key: json(items).optional(),
    "condition-expression": z.string().optional(),
    "update-expression": z.string().optional(),
    "expression-attribute-names": json(names).optional(),
    "expression-attribute-values": json(items).optional(),
  })
  .transform((given) => ({
    Item: given.item,
    Key: given.key,
    ConditionExpression: given["condition-expression"],
    UpdateExpression: given["update-expression"],
    ExpressionAttributeNames: given["expression-attribute-names"],
    ExpressionAttributeValues: given["expression-attribute-values"],
  }));

/** The words of a command line, with the quotes that its pages use: single ones, in which nothing is special. */
const wordsOf = (command: string): string[] =>
  [...command.matchAll(/'([^']*)'|([^\s']+)/g)].map(([, quoted, bare = ""]) => quoted ?? bare);

/** Does what `command` would, with the SDK: the same call, of the same arguments, on the table named `TableName`. */
export async function runDocumented(client: DynamoDBClient, TableName: string, command: string): Promise<void> {
  const [, , verb, ...rest] = wordsOf(command);
  const pairs = Array.from({ length: Math.ceil(rest.length / 2) }, (_, index) => rest.slice(2 * index, 2 * index + 2));
  const given = flags.parse(Object.fromEntries(pairs.map(([flag = "", value]) => [flag.replace(/^--/, ""), value])));
  const { Item, Key, ...expressions } = given;
  if (verb === "put-item" && Item) await client.send(new PutItemCommand({ TableName, Item, ...expressions }));
  else if (verb === "update-item" && Key) await client.send(new UpdateItemCommand({ TableName, Key, ...expressions }));
  else if (verb === "delete-item" && Key) await client.send(new DeleteItemCommand({ TableName, Key, ...expressions }));
  else throw new Error(`a documented command must be put-item, update-item or delete-item, got ${command}`);
}
