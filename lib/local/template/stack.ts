import { LOCAL_REGION, type LocalClients } from "../engines/clients.ts";
import { type Resource, resourcesOf, type Template } from "./document.ts";
import { type EventSource, readEventSources } from "./event-sources.ts";
import { type LocalFunction, readFunctions } from "./functions.ts";
import { type ResourceValues, resolve, type Scope } from "./intrinsics.ts";
import { derivedNames } from "./names.ts";
import { readProperties } from "./properties.ts";
import { ensureQueue, type LocalQueue, queueProperties, redriveProperties, setRedrive } from "./queues.ts";
import { type LocalRule, readRules } from "./rules.ts";
import { ensureTable, type LocalTable, tableProperties } from "./tables.ts";

/** A template brought to life: what was created, and how its parts feed each other. */
export interface LocalStack {
  readonly tables: readonly LocalTable[];
  readonly queues: readonly LocalQueue[];
  readonly functions: readonly LocalFunction[];
  readonly eventSources: readonly EventSource[];
  readonly rules: readonly LocalRule[];
  readonly outputs: Readonly<Record<string, string>>;
}

/** The account that both stand-ins put into their ARNs. */
const LOCAL_ACCOUNT = "000000000000";

/** CloudFormation User Guide, "Pseudo parameters reference". */
const PSEUDO_PARAMETERS = {
  "AWS::AccountId": LOCAL_ACCOUNT,
  "AWS::Partition": "aws",
  "AWS::Region": LOCAL_REGION,
  "AWS::StackId": `arn:aws:cloudformation:${LOCAL_REGION}:${LOCAL_ACCOUNT}:stack/local/local`,
  "AWS::StackName": "local",
  "AWS::URLSuffix": "amazonaws.com",
};

/**
 * Creates the template's tables and queues, keeping those that stand already, and reads its functions, event sources and
 * rules with every reference resolved. Throws `LocalEngineError` for what it cannot imitate.
 */
export async function provision(template: Template, clients: LocalClients): Promise<LocalStack> {
  const resources = namedResources(template);
  const scope: Scope = { resources, parameters: { ...template.parameters, ...PSEUDO_PARAMETERS } };
  const nameOf = ({ logicalId }: Resource): string => resources.get(logicalId)?.ref ?? logicalId;

  const tableResources = resourcesOf(template, "AWS::DynamoDB::GlobalTable", "AWS::DynamoDB::Table");
  const queueResources = resourcesOf(template, "AWS::SQS::Queue");
  const [tables, queues] = await Promise.all([
    Promise.all(
      tableResources.map((resource) => {
        const properties = readProperties(resource, scope, tableProperties);
        const name = properties.TableName ?? nameOf(resource);
        return ensureTable(clients.dynamodb, resource.logicalId, name, properties);
      }),
    ),
    Promise.all(
      queueResources.map((resource) => {
        const properties = readProperties(resource, scope, queueProperties);
        return ensureQueue(clients.sqs, resource.logicalId, nameOf(resource), properties);
      }),
    ),
  ]);
  for (const table of tables) resources.set(table.logicalId, tableValues(table));
  for (const queue of queues) resources.set(queue.logicalId, queueValues(queue));
  await Promise.all(
    queues.map((queue, index) => {
      const resource = queueResources[index];
      return resource && setRedrive(clients.sqs, queue, readProperties(resource, scope, redriveProperties));
    }),
  );

  const functions = readFunctions(template, scope);
  const outputs = Object.entries(template.outputs).map(
    ([name, value]) => [name, String(resolve(value, scope, `output ${name}`))] as const,
  );
  return {
    tables,
    queues,
    functions,
    eventSources: readEventSources(template, scope, { tables, queues, functions }),
    rules: readRules(template, scope, functions),
    outputs: Object.fromEntries(outputs),
  };
}

/** Every resource under its derived name; tables and queues get their real values once they stand. */
function namedResources(template: Template): Map<string, ResourceValues> {
  const names = derivedNames(template);
  return new Map(
    template.resources.map(({ logicalId, type }) => {
      const name = names.get(logicalId) ?? logicalId;
      const service = type.split("::")[1]?.toLowerCase() ?? "local";
      const arn = `arn:aws:${service}:${LOCAL_REGION}:${LOCAL_ACCOUNT}:${name}`;
      return [logicalId, { ref: name, attributes: { Arn: arn, Name: name } }];
    }),
  );
}

const tableValues = ({ name, arn, streamArn }: LocalTable): ResourceValues => ({
  ref: name,
  attributes: { Arn: arn, ...(streamArn !== undefined && { StreamArn: streamArn }) },
});

const queueValues = ({ name, url, arn }: LocalQueue): ResourceValues => ({
  ref: url,
  attributes: { Arn: arn, QueueName: name, QueueUrl: url },
});
