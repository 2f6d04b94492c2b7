import { expect, test } from "vitest";
import { permissionsOf } from "../support/permissions/policies.ts";
import { templateOf } from "./world.ts";

const template = templateOf();

const BUS = "arn:<Partition>:events:<Region>:<AccountId>:event-bus/default";

test("the dispatcher moves and inserts occurrences, and sends; it writes no schedule", () => {
  expect(permissionsOf(template, "Dispatcher")).toEqual([
    "dynamodb:BatchGetItem Occurrences",
    "dynamodb:BatchGetItem Schedules",
    "dynamodb:GetItem Occurrences",
    "dynamodb:PartiQLInsert Occurrences",
    "dynamodb:PartiQLUpdate Occurrences",
    "dynamodb:Query Occurrences",
    "dynamodb:Query Occurrences/index/dead-letters",
    "dynamodb:Query Occurrences/index/due",
    "dynamodb:UpdateItem Occurrences",
    "logs:CreateLogStream DispatcherLogs",
    "logs:PutLogEvents DispatcherLogs",
    "sqs:SendMessage Queue",
  ]);
});

test("the consumer reports on occurrences, takes messages, and sets unreadable ones aside", () => {
  expect(permissionsOf(template, "Consumer")).toEqual([
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
  expect(permissionsOf(template, "Reconciler")).toEqual([
    "dynamodb:BatchGetItem Occurrences",
    "dynamodb:BatchGetItem Schedules",
    "dynamodb:ConditionCheckItem Schedules",
    "dynamodb:DeleteItem Occurrences",
    "dynamodb:DeleteItem Schedules",
    "dynamodb:DescribeStream Occurrences.StreamArn",
    "dynamodb:DescribeStream Schedules.StreamArn",
    "dynamodb:GetItem Occurrences",
    "dynamodb:GetRecords Occurrences.StreamArn",
    "dynamodb:GetRecords Schedules.StreamArn",
    "dynamodb:GetShardIterator Occurrences.StreamArn",
    "dynamodb:GetShardIterator Schedules.StreamArn",
    "dynamodb:ListStreams Occurrences.StreamArn",
    "dynamodb:ListStreams Schedules.StreamArn",
    "dynamodb:PartiQLInsert Occurrences",
    "dynamodb:PartiQLUpdate Occurrences",
    "dynamodb:Query Occurrences",
    "dynamodb:Query Occurrences/index/dead-letters",
    "dynamodb:Query Occurrences/index/due",
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
  expect(permissionsOf(template, "Notifier")).toEqual([
    "dynamodb:BatchGetItem Occurrences",
    "dynamodb:BatchGetItem Schedules",
    "dynamodb:DescribeStream Occurrences.StreamArn",
    "dynamodb:GetItem Occurrences",
    "dynamodb:GetRecords Occurrences.StreamArn",
    "dynamodb:GetShardIterator Occurrences.StreamArn",
    "dynamodb:ListStreams Occurrences.StreamArn",
    "dynamodb:PartiQLUpdate Occurrences",
    "dynamodb:Query Occurrences",
    "dynamodb:UpdateItem Schedules",
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
