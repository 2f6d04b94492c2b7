import { expect, test } from "vitest";
import * as z from "zod";
import { propertiesOf, templateOf } from "./world.ts";

const template = templateOf();

const list = z.union([z.array(z.unknown()), z.unknown().transform((one) => [one])]);
const policy = z.object({
  PolicyDocument: z.object({
    Statement: z.array(z.object({ Effect: z.literal("Allow"), Action: list, Resource: list })),
  }),
});

/** What a role may do, a line for each action and resource, with the CDK's hashes left out. */
function permissionsOf(role: string): string[] {
  const { PolicyDocument } = policy.parse(propertiesOf(template, "AWS::IAM::Policy", `${role}RoleDefaultPolicy`));
  return PolicyDocument.Statement.flatMap(({ Action, Resource }) =>
    Action.flatMap((action) => Resource.map((resource) => `${action} ${shortName(resource)}`)),
  ).toSorted();
}

/** `Schedules`, `Schedules.StreamArn` or `Occurrences/index/due` for what a policy says in functions of CloudFormation. */
function shortName(resource: unknown): string {
  const getAtt = z.object({ "Fn::GetAtt": z.tuple([z.string(), z.string()]) }).safeParse(resource);
  if (getAtt.success) {
    const [id, attribute] = getAtt.data["Fn::GetAtt"];
    return attribute === "Arn" ? id.slice(0, -8) : `${id.slice(0, -8)}.${attribute}`;
  }
  const join = z.object({ "Fn::Join": z.tuple([z.literal(""), z.array(z.unknown())]) }).safeParse(resource);
  if (join.success) return join.data["Fn::Join"][1].map(shortName).join("");
  const ref = z.object({ Ref: z.string() }).safeParse(resource);
  return ref.success ? `<${ref.data.Ref.replace("AWS::", "")}>` : z.string().parse(resource);
}

const BUS = "arn:<Partition>:events:<Region>:<AccountId>:event-bus/default";

test("the dispatcher moves and inserts occurrences, sends, and says when a schedule ended", () => {
  expect(permissionsOf("Dispatcher")).toEqual([
    "dynamodb:BatchGetItem Occurrences",
    "dynamodb:BatchGetItem Schedules",
    "dynamodb:ConditionCheckItem Schedules",
    "dynamodb:DeleteItem Occurrences",
    "dynamodb:GetItem Occurrences",
    "dynamodb:GetItem Schedules",
    "dynamodb:PartiQLInsert Occurrences",
    "dynamodb:PartiQLUpdate Occurrences",
    "dynamodb:Query Occurrences",
    "dynamodb:Query Occurrences/index/due",
    "dynamodb:UpdateItem Occurrences",
    "dynamodb:UpdateItem Schedules",
    "logs:CreateLogStream DispatcherLogs",
    "logs:PutLogEvents DispatcherLogs",
    "sqs:SendMessage Queue",
  ]);
});

test("the consumer reports on occurrences, takes messages, and sets unreadable ones aside", () => {
  expect(permissionsOf("Consumer")).toEqual([
    "dynamodb:BatchGetItem Occurrences",
    "dynamodb:GetItem Occurrences",
    "dynamodb:PartiQLUpdate Occurrences",
    "dynamodb:Query Occurrences",
    "logs:CreateLogStream ConsumerLogs",
    "logs:PutLogEvents ConsumerLogs",
    "sqs:ChangeMessageVisibility Queue",
    "sqs:DeleteMessage Queue",
    "sqs:GetQueueAttributes Queue",
    "sqs:GetQueueUrl Queue",
    "sqs:ReceiveMessage Queue",
    "sqs:SendMessage DeadLetterQueue",
  ]);
});

test("the reconciler keeps chains and statuses, and announces what was forgotten", () => {
  expect(permissionsOf("Reconciler")).toEqual([
    "dynamodb:BatchGetItem Occurrences",
    "dynamodb:BatchGetItem Schedules",
    "dynamodb:ConditionCheckItem Schedules",
    "dynamodb:DeleteItem Occurrences",
    "dynamodb:DescribeStream Schedules.StreamArn",
    "dynamodb:GetItem Occurrences",
    "dynamodb:GetItem Schedules",
    "dynamodb:GetRecords Schedules.StreamArn",
    "dynamodb:GetShardIterator Schedules.StreamArn",
    "dynamodb:ListStreams Schedules.StreamArn",
    "dynamodb:PartiQLInsert Occurrences",
    "dynamodb:PartiQLUpdate Occurrences",
    "dynamodb:Query Occurrences",
    "dynamodb:Query Occurrences/index/dead-letters",
    "dynamodb:Scan Schedules",
    "dynamodb:UpdateItem Occurrences",
    "dynamodb:UpdateItem Schedules",
    `events:PutEvents ${BUS}`,
    "logs:CreateLogStream ReconcilerLogs",
    "logs:PutLogEvents ReconcilerLogs",
    "sqs:GetQueueAttributes StreamFailures",
    "sqs:GetQueueUrl StreamFailures",
    "sqs:SendMessage DeadLetterQueue",
    "sqs:SendMessage StreamFailures",
  ]);
});

test("the notifier announces and notes that it did", () => {
  expect(permissionsOf("Notifier")).toEqual([
    "dynamodb:BatchGetItem Occurrences",
    "dynamodb:DescribeStream Occurrences.StreamArn",
    "dynamodb:GetItem Occurrences",
    "dynamodb:GetRecords Occurrences.StreamArn",
    "dynamodb:GetShardIterator Occurrences.StreamArn",
    "dynamodb:ListStreams Occurrences.StreamArn",
    "dynamodb:PartiQLUpdate Occurrences",
    `events:PutEvents ${BUS}`,
    "logs:CreateLogStream NotifierLogs",
    "logs:PutLogEvents NotifierLogs",
    "sqs:GetQueueAttributes StreamFailures",
    "sqs:GetQueueUrl StreamFailures",
    "sqs:SendMessage DeadLetterQueue",
    "sqs:SendMessage StreamFailures",
  ]);
});

test("no role has a managed policy", () => {
  for (const role of Object.values(template.findResources("AWS::IAM::Role")))
    expect(role).not.toHaveProperty("Properties.ManagedPolicyArns");
});
