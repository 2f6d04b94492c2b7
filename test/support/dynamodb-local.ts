import { DynamoDBClient, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { App, RemovalPolicy, Stack } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { itemFrom } from "../../lib/adapters/dynamodb/attribute-value.ts";
import type { ScheduleItem } from "../../lib/app/ports.ts";
import { createOccurrencesTable, createSchedulesTable } from "../../lib/construct/tables.ts";
import { LOCAL_CREDENTIALS, LOCAL_REGION } from "../../lib/local/engines/clients.ts";
import { startDynamoDb } from "../../lib/local/engines/dynamodb.ts";
import { parseTemplate, resourcesOf } from "../../lib/local/template/document.ts";
import { readProperties } from "../../lib/local/template/properties.ts";
import { ensureTable, tableProperties } from "../../lib/local/template/tables.ts";

/** The names of one world's two tables. */
interface TestTables {
  readonly schedulesTable: string;
  readonly occurrencesTable: string;
}

/** DynamoDB Local in memory, for one test file. It ends with this process, however that ends. */
export interface TestDynamoDb {
  readonly endpoint: string;
  /** What `createDynamoDbClient` needs to reach it. */
  readonly clientConfig: { endpoint: string; region: string; credentials: typeof LOCAL_CREDENTIALS };
  /** Creates two empty tables from the synthesized template, under names of their own. */
  newTables(): Promise<TestTables>;
  /** A user's own `PutItem`. */
  putItem(tableName: string, item: ScheduleItem): Promise<void>;
  close(): Promise<void>;
}

/** Starts DynamoDB Local. */
export async function startTestDynamoDb(): Promise<TestDynamoDb> {
  const engine = await startDynamoDb();
  const clientConfig = { endpoint: engine.endpoint, region: LOCAL_REGION, credentials: LOCAL_CREDENTIALS };
  const client = new DynamoDBClient(clientConfig);
  const [schedules, occurrences] = synthesizedTables();
  let worlds = 0;
  return {
    endpoint: engine.endpoint,
    clientConfig,
    newTables: async () => {
      worlds += 1;
      const names = { schedulesTable: `Schedules-${worlds}`, occurrencesTable: `Occurrences-${worlds}` };
      await ensureTable(client, "Schedules", names.schedulesTable, schedules);
      await ensureTable(client, "Occurrences", names.occurrencesTable, occurrences);
      return names;
    },
    putItem: async (tableName, item) => {
      await client.send(new PutItemCommand({ TableName: tableName, Item: itemFrom(item) }));
    },
    close: async () => {
      client.destroy();
      await engine.close();
    },
  };
}

/** The properties of the Schedules and the Occurrences table, as the construct has them in a template. */
function synthesizedTables() {
  const stack = new Stack(new App(), "Test");
  const safety = { removalPolicy: RemovalPolicy.DESTROY, deletionProtection: false };
  createSchedulesTable(stack, safety);
  createOccurrencesTable(stack, safety);
  const template = parseTemplate(Template.fromStack(stack).toJSON());
  const scope = { resources: new Map(), parameters: { "AWS::Region": LOCAL_REGION } };
  const properties = (prefix: string) => {
    const tables = resourcesOf(template, "AWS::DynamoDB::GlobalTable");
    const table = tables.find(({ logicalId }) => logicalId.startsWith(prefix));
    if (table === undefined)
      throw new TypeError(`the template must have a table ${prefix}, got ${tables.length} others`);
    return readProperties(table, scope, tableProperties);
  };
  return [properties("Schedules"), properties("Occurrences")] as const;
}
