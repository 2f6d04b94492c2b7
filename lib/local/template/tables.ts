import { isDeepStrictEqual } from "node:util";
import {
  type AttributeDefinition,
  CreateTableCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  type DynamoDBClient,
  type KeySchemaElement,
  type Projection,
  type TableDescription,
  UpdateTimeToLiveCommand,
} from "@aws-sdk/client-dynamodb";
import * as z from "zod";
import { isNamed, LocalEngineError } from "../errors.ts";

const keySchema = z.array(z.object({ AttributeName: z.string(), KeyType: z.enum(["HASH", "RANGE"]) }));

const projection = z.object({
  ProjectionType: z.enum(["ALL", "KEYS_ONLY", "INCLUDE"]),
  NonKeyAttributes: z.array(z.string()).optional(),
});

/** What counts locally of `AWS::DynamoDB::Table` and `AWS::DynamoDB::GlobalTable`: keys, indexes, stream and TTL. */
export const tableProperties = z.object({
  TableName: z.string().optional(),
  AttributeDefinitions: z.array(z.object({ AttributeName: z.string(), AttributeType: z.enum(["S", "N", "B"]) })),
  KeySchema: keySchema,
  GlobalSecondaryIndexes: z
    .array(z.object({ IndexName: z.string(), KeySchema: keySchema, Projection: projection }))
    .default([]),
  StreamSpecification: z
    .object({ StreamViewType: z.enum(["KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES"]) })
    .optional(),
  TimeToLiveSpecification: z.object({ Enabled: z.boolean(), AttributeName: z.string().optional() }).optional(),
});

type TableProperties = z.output<typeof tableProperties>;

/** A table that stands. */
export interface LocalTable {
  readonly logicalId: string;
  readonly name: string;
  readonly arn: string;
  readonly streamArn: string | undefined;
}

/**
 * Creates the table `name`, or takes the one that is there. Throws {@link LocalEngineError} when that one has other keys,
 * indexes or another stream than the template.
 */
export async function ensureTable(
  client: DynamoDBClient,
  logicalId: string,
  name: string,
  properties: TableProperties,
): Promise<LocalTable> {
  const description = (await create(client, name, properties)) ?? (await existing(client, name, properties));
  const { TableArn: arn, LatestStreamArn: streamArn } = description;
  if (arn === undefined) throw new LocalEngineError(`table ${name} has no ARN`);
  await ensureTimeToLive(client, name, properties);
  return { logicalId, name, arn, streamArn };
}

async function create(
  client: DynamoDBClient,
  name: string,
  properties: TableProperties,
): Promise<TableDescription | undefined> {
  const indexes = properties.GlobalSecondaryIndexes.map((index) => ({ ...index, Projection: project(index) }));
  const stream = properties.StreamSpecification;
  try {
    const { TableDescription } = await client.send(
      new CreateTableCommand({
        TableName: name,
        AttributeDefinitions: properties.AttributeDefinitions,
        KeySchema: properties.KeySchema,
        BillingMode: "PAY_PER_REQUEST",
        ...(indexes.length > 0 && { GlobalSecondaryIndexes: indexes }),
        ...(stream && { StreamSpecification: { StreamEnabled: true, StreamViewType: stream.StreamViewType } }),
      }),
    );
    return TableDescription;
  } catch (error) {
    if (isNamed(error, "ResourceInUseException")) return undefined;
    throw error;
  }
}

async function existing(client: DynamoDBClient, name: string, wanted: TableProperties): Promise<TableDescription> {
  const { Table } = await client.send(new DescribeTableCommand({ TableName: name }));
  if (!Table) throw new LocalEngineError(`table ${name} vanished while it was looked at`);
  const found = shape(
    Table.KeySchema,
    Table.AttributeDefinitions,
    Table.GlobalSecondaryIndexes,
    Table.StreamSpecification,
  );
  const { KeySchema, AttributeDefinitions, GlobalSecondaryIndexes, StreamSpecification } = wanted;
  if (!isDeepStrictEqual(found, shape(KeySchema, AttributeDefinitions, GlobalSecondaryIndexes, StreamSpecification)))
    throw new LocalEngineError(
      `table ${name} must have the template's keys, indexes and stream, got those of another version: use a new --data-dir, or delete the table`,
    );
  return Table;
}

interface Index {
  readonly IndexName?: string | undefined;
  readonly KeySchema?: readonly KeySchemaElement[] | undefined;
  readonly Projection?: Projection | z.output<typeof projection> | undefined;
}

/** What must agree between two tables, in an order of its own. */
function shape(
  keys: readonly KeySchemaElement[] | undefined,
  attributes: readonly AttributeDefinition[] | undefined,
  indexes: readonly Index[] | undefined,
  stream: { StreamViewType?: string | undefined } | undefined,
): unknown {
  const byName = (left: string, right: string): number => (left < right ? -1 : 1);
  const keyText = (schema: readonly KeySchemaElement[] | undefined): string[] =>
    (schema ?? []).map(({ AttributeName, KeyType }) => `${KeyType}:${AttributeName}`).sort(byName);
  return {
    keys: keyText(keys),
    attributes: (attributes ?? []).map((each) => `${each.AttributeName}:${each.AttributeType}`).sort(byName),
    indexes: (indexes ?? [])
      .map((index) => ({
        name: index.IndexName ?? "",
        keys: keyText(index.KeySchema),
        projection: index.Projection?.ProjectionType,
        include: [...(index.Projection?.NonKeyAttributes ?? [])].sort(byName),
      }))
      .sort((left, right) => byName(left.name, right.name)),
    stream: stream?.StreamViewType,
  };
}

const project = ({
  Projection: { ProjectionType, NonKeyAttributes },
}: {
  Projection: z.output<typeof projection>;
}) => ({
  ProjectionType,
  ...(NonKeyAttributes && { NonKeyAttributes }),
});

async function ensureTimeToLive(client: DynamoDBClient, name: string, properties: TableProperties): Promise<void> {
  const wanted = properties.TimeToLiveSpecification;
  if (!wanted?.Enabled || wanted.AttributeName === undefined) return;
  const { TimeToLiveDescription } = await client.send(new DescribeTimeToLiveCommand({ TableName: name }));
  if (TimeToLiveDescription?.TimeToLiveStatus === "ENABLED") return;
  await client.send(
    new UpdateTimeToLiveCommand({
      TableName: name,
      TimeToLiveSpecification: { Enabled: true, AttributeName: wanted.AttributeName },
    }),
  );
}
