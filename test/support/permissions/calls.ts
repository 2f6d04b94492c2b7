import * as z from "zod";
import type { ProxiedRequest } from "../faults/proxy.ts";

/** The services that functions call. */
export type Service = "dynamodb" | "sqs" | "events";

/** One thing that IAM must allow for a request to be served. */
export interface Call {
  /** As policies write it: `dynamodb:PartiQLInsert`. */
  readonly action: string;
  /** A table's name, `<table>/index/<index>`, a queue's URL or a bus's name. */
  readonly resource: string;
  /** What it was about. */
  readonly text: string;
}

const onTable = z.object({ TableName: z.string(), IndexName: z.string().optional() });
const onTables = z.object({ RequestItems: z.record(z.string(), z.unknown()) });
const statements = z.object({ Statements: z.array(z.object({ Statement: z.string(), Parameters: z.unknown() })) });
const transaction = z.object({ TransactItems: z.array(z.record(z.string(), onTable.loose())) });
const onQueue = z.object({ QueueUrl: z.string() });
const events = z.object({ Entries: z.array(z.object({ EventBusName: z.string() }).loose()) });

/**
 * What a request needs to be allowed, by the Service Authorization Reference, "Actions, resources, and condition keys" for
 * each service; more than one where a request has parts. An operation that is in no list here stands for itself.
 */
export function callsOf(service: Service, { operation, body }: ProxiedRequest): Call[] {
  const whole = JSON.stringify(body);
  switch (`${service}:${operation}`) {
    // Amazon DynamoDB Developer Guide, "IAM security policies with PartiQL for DynamoDB": each statement is an action.
    case "dynamodb:BatchExecuteStatement":
      return statements.parse(body).Statements.map(({ Statement, Parameters }) => statementCall(Statement, Parameters));
    // The same, "Using IAM with DynamoDB transactions": the actions of its parts.
    case "dynamodb:TransactWriteItems":
      return transaction.parse(body).TransactItems.flatMap((item) =>
        Object.entries(item).map(([part, { TableName }]) => ({
          action: `dynamodb:${part}Item`,
          resource: TableName,
          text: whole,
        })),
      );
    case "dynamodb:BatchGetItem":
      return Object.entries(onTables.parse(body).RequestItems).map(([resource, asked]) => ({
        action: "dynamodb:BatchGetItem",
        resource,
        text: JSON.stringify(asked),
      }));
    // Amazon SQS Developer Guide, "Amazon SQS batch actions": what allows the action allows its batch.
    case "sqs:SendMessageBatch":
      return [{ action: "sqs:SendMessage", resource: onQueue.parse(body).QueueUrl, text: whole }];
    case "events:PutEvents":
      return events.parse(body).Entries.map((entry) => ({
        action: "events:PutEvents",
        resource: entry.EventBusName,
        text: JSON.stringify(entry),
      }));
    default: {
      const { TableName, IndexName } = onTable.partial().parse(body);
      const resource = IndexName === undefined ? TableName : `${TableName}/index/${IndexName}`;
      return [{ action: `${service}:${operation}`, resource: resource ?? "*", text: whole }];
    }
  }
}

const STATEMENT = /^(INSERT INTO|UPDATE|DELETE FROM|SELECT .+? FROM) "([^"]+)"(?:\."([^"]+)")?/;
const PARTIQL_ACTIONS: Readonly<Record<string, string>> = {
  INSERT: "PartiQLInsert",
  UPDATE: "PartiQLUpdate",
  DELETE: "PartiQLDelete",
  SELECT: "PartiQLSelect",
};

function statementCall(statement: string, parameters: unknown): Call {
  const [, verb = "", table = "", index] = STATEMENT.exec(statement) ?? [];
  const action = PARTIQL_ACTIONS[verb.split(" ")[0] ?? ""];
  if (action === undefined) throw new Error(`a statement must name its verb and table, got ${statement}`);
  return {
    action: `dynamodb:${action}`,
    resource: index === undefined ? table : `${table}/index/${index}`,
    text: `${statement} ${JSON.stringify(parameters)}`,
  };
}
