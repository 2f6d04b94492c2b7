import { Validations } from "aws-cdk-lib";
import { Match } from "aws-cdk-lib/assertions";
import { AwsSolutionsChecks } from "cdk-nag";
import { expect, test } from "vitest";
import { PunctualStack } from "../../lib/construct/index.ts";
import { DUE_INDEX_ATTRIBUTES } from "../../lib/core/occurrence.ts";
import { DEFAULT_NUMBERS } from "../../lib/core/timing.ts";
import { readEnvironment, timingOf } from "../../lib/runtime/env.ts";
import { BUNDLES, propertiesOf, templateOf, testApp } from "./world.ts";

const template = templateOf();

/** `NonKeyAttributes` of one index (Amazon DynamoDB API Reference, "Projection"). */
const PROJECTED_MAX = 20;

const reference = (name: string, attribute: string) => ({
  "Fn::GetAtt": [Match.stringLikeRegexp(`^${name}[0-9A-F]{8}$`), attribute],
});

test("the Schedules table has its group index, a stream of both images, and is kept", () => {
  template.hasResource("AWS::DynamoDB::GlobalTable", {
    DeletionPolicy: "RetainExceptOnCreate",
    UpdateReplacePolicy: "Retain",
    Properties: {
      KeySchema: [{ AttributeName: "scheduleId", KeyType: "HASH" }],
      BillingMode: "PAY_PER_REQUEST",
      StreamSpecification: { StreamViewType: "NEW_AND_OLD_IMAGES" },
      GlobalSecondaryIndexes: [
        {
          IndexName: "group",
          KeySchema: [
            { AttributeName: "group", KeyType: "HASH" },
            { AttributeName: "scheduleId", KeyType: "RANGE" },
          ],
          Projection: { ProjectionType: "ALL" },
        },
      ],
      Replicas: [
        Match.objectLike({
          DeletionProtectionEnabled: true,
          PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        }),
      ],
    },
  });
});

test("the Occurrences table has both sharded indexes, each within its projection, TTL in seconds, and a stream", () => {
  const properties = propertiesOf(template, "AWS::DynamoDB::GlobalTable", "Occurrences");
  expect(properties).toMatchObject({
    KeySchema: [
      { AttributeName: "scheduleId", KeyType: "HASH" },
      { AttributeName: "firing", KeyType: "RANGE" },
    ],
    AttributeDefinitions: expect.arrayContaining([
      { AttributeName: "shard", AttributeType: "N" },
      { AttributeName: "dueAt", AttributeType: "N" },
      { AttributeName: "deadLetterShard", AttributeType: "N" },
      { AttributeName: "deadLetteredAt", AttributeType: "N" },
    ]),
    StreamSpecification: { StreamViewType: "NEW_AND_OLD_IMAGES" },
    TimeToLiveSpecification: { AttributeName: "expiresAtSeconds", Enabled: true },
    GlobalSecondaryIndexes: [
      {
        IndexName: "due",
        KeySchema: [
          { AttributeName: "shard", KeyType: "HASH" },
          { AttributeName: "dueAt", KeyType: "RANGE" },
        ],
        Projection: { ProjectionType: "INCLUDE", NonKeyAttributes: [...DUE_INDEX_ATTRIBUTES] },
      },
      {
        IndexName: "dead-letters",
        KeySchema: [
          { AttributeName: "deadLetterShard", KeyType: "HASH" },
          { AttributeName: "deadLetteredAt", KeyType: "RANGE" },
        ],
        Projection: {
          ProjectionType: "INCLUDE",
          NonKeyAttributes: expect.arrayContaining([
            "occurrenceId",
            "deadLetterReason",
            "lastError",
            "attempts",
            "job",
          ]),
        },
      },
    ],
  });
  for (const index of Object(properties["GlobalSecondaryIndexes"]))
    expect(index.Projection.NonKeyAttributes.length).toBeLessThanOrEqual(PROJECTED_MAX);
});

// F329: in a global table's replicas two conditional writes of one item both succeed.
test("both tables live in one region", () => {
  for (const name of ["Schedules", "Occurrences"])
    expect(propertiesOf(template, "AWS::DynamoDB::GlobalTable", name)["Replicas"]).toHaveLength(1);
});

test("both FIFO queues are set up for high throughput, encrypted, and reached by TLS alone", () => {
  for (const name of ["Queue", "DeadLetterQueue"])
    expect(propertiesOf(template, "AWS::SQS::Queue", name)).toMatchObject({
      FifoQueue: true,
      DeduplicationScope: "messageGroup",
      FifoThroughputLimit: "perMessageGroupId",
      SqsManagedSseEnabled: true,
      MessageRetentionPeriod: 1_209_600,
    });
  for (const name of ["Queue", "DeadLetterQueue", "StreamFailures"])
    template.hasResourceProperties("AWS::SQS::QueuePolicy", {
      Queues: [{ Ref: Match.stringLikeRegexp(`^${name}[0-9A-F]{8}$`) }],
      PolicyDocument: {
        Statement: [
          Match.objectLike({
            Effect: "Deny",
            Action: "sqs:*",
            Principal: { AWS: "*" },
            Condition: { Bool: { "aws:SecureTransport": "false" } },
          }),
        ],
      },
    });
});

test("the queue redrives to the dead-letter queue, which takes from that queue alone, without a cycle", () => {
  template.hasResourceProperties("AWS::SQS::Queue", {
    QueueName: "Punctual-default.fifo",
    VisibilityTimeout: 330,
    RedrivePolicy: { maxReceiveCount: 20, deadLetterTargetArn: reference("DeadLetterQueue", "Arn") },
  });
  expect(propertiesOf(template, "AWS::SQS::Queue", "DeadLetterQueue")["RedriveAllowPolicy"]).toEqual({
    redrivePermission: "byQueue",
    sourceQueueArns: [
      {
        "Fn::Join": [
          "",
          [
            "arn:",
            { Ref: "AWS::Partition" },
            ":sqs:",
            { Ref: "AWS::Region" },
            ":",
            { Ref: "AWS::AccountId" },
            ":Punctual-default.fifo",
          ],
        ],
      },
    ],
  });
});

test.each([
  ["Dispatcher", 512, 100],
  ["Consumer", 512, 300],
  ["Reconciler", 512, 300],
  ["Notifier", 256, 60],
])("the %s runs on Node 24 for arm64 with its own role and log group", (name, MemorySize, Timeout) => {
  template.hasResourceProperties("AWS::Lambda::Function", {
    Runtime: "nodejs24.x",
    Architectures: ["arm64"],
    Handler: "index.handler",
    MemorySize,
    Timeout,
    Role: reference(`${name}Role`, "Arn"),
    LoggingConfig: { LogGroup: { Ref: Match.stringLikeRegexp(`^${name}Logs`) } },
  });
  expect(propertiesOf(template, "AWS::Logs::LogGroup", `${name}Logs`)).toEqual({ RetentionInDays: 30 });
});

test("the environment of a function, once resolved, is one that its handler accepts", () => {
  const { Environment } = propertiesOf(template, "AWS::Lambda::Function", "Dispatcher");
  const variables = Object.entries(Object(Object(Environment)["Variables"])).map(([name, value]) => [
    name,
    text(value),
  ]);
  const settings = readEnvironment(Object.fromEntries(variables));
  expect(settings).toMatchObject({
    deployment: "Punctual",
    queues: { default: { timeoutMaxSeconds: 290 } },
    eventBusName: "default",
    shards: 8,
    dispatchers: 1,
    announce: [],
  });
  expect(settings.queues["default"]?.url).toMatch(/^<Queue[0-9A-F]{8}>$/);
  expect(timingOf(settings)).toMatchObject(DEFAULT_NUMBERS);
});

/** What a reference or a join stands for, with `<LogicalId>` for what only CloudFormation knows. */
function text(value: unknown): string {
  if (typeof value === "string") return value;
  const { Ref, "Fn::Join": join } = Object(value);
  return Ref === undefined ? join[1].map(text).join("") : `<${Ref}>`;
}

test("the consumer takes ten messages at a time, answers for each, and without a filter", () => {
  template.hasResourceProperties("AWS::Lambda::EventSourceMapping", {
    EventSourceArn: reference("Queue", "Arn"),
    FunctionName: { Ref: Match.stringLikeRegexp("^Consumer") },
    BatchSize: 10,
    FunctionResponseTypes: ["ReportBatchItemFailures"],
    FilterCriteria: Match.absent(),
  });
});

test.each([
  ["Schedules", "Reconciler"],
  ["Occurrences", "Reconciler"],
  ["Occurrences", "Notifier"],
])("a poison record of the %s stream is isolated and set aside", (table, reader) => {
  template.hasResourceProperties("AWS::Lambda::EventSourceMapping", {
    EventSourceArn: reference(table, "StreamArn"),
    FunctionName: { Ref: Match.stringLikeRegexp(`^${reader}`) },
    StartingPosition: "TRIM_HORIZON",
    BisectBatchOnFunctionError: true,
    FunctionResponseTypes: ["ReportBatchItemFailures"],
    MaximumRetryAttempts: 10,
    MaximumRecordAgeInSeconds: 43_200,
    DestinationConfig: { OnFailure: { Destination: reference("StreamFailures", "Arn") } },
  });
});

test("a schedule's every change reaches the reconciler", () => {
  template.hasResourceProperties("AWS::Lambda::EventSourceMapping", {
    EventSourceArn: reference("Schedules", "StreamArn"),
    FilterCriteria: Match.absent(),
  });
});

test("the reconciler hears of the runs after which a schedule has ended, and of what a pause passed over", () => {
  const patterns = [
    {
      dynamodb: {
        NewImage: {
          status: { S: ["DISPATCHED", "SUCCEEDED", "FAILED", "DEAD_LETTERED", "SKIPPED", "CANCELLED"] },
          settles: { BOOL: [true] },
        },
      },
    },
    { dynamodb: { NewImage: { status: { S: ["SKIPPED"] }, skipReason: { S: ["paused", "disabled"] } } } },
  ];
  template.hasResourceProperties("AWS::Lambda::EventSourceMapping", {
    EventSourceArn: reference("Occurrences", "StreamArn"),
    FunctionName: { Ref: Match.stringLikeRegexp("^Reconciler") },
    FilterCriteria: { Filters: patterns.map((pattern) => ({ Pattern: Match.serializedJson(pattern) })) },
  });
});

test("the dispatcher is started every minute, once, with its number, and never again for the same minute", () => {
  template.hasResourceProperties("AWS::Events::Rule", {
    ScheduleExpression: "rate(1 minute)",
    State: "ENABLED",
    Targets: [
      {
        Arn: reference("Dispatcher", "Arn"),
        Input: '{"dispatcher":0,"of":1}',
        RetryPolicy: { MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60 },
      },
    ].map((target) => Match.objectLike(target)),
  });
  template.hasResourceProperties("AWS::Lambda::EventInvokeConfig", {
    FunctionName: { Ref: Match.stringLikeRegexp("^Dispatcher") },
    MaximumRetryAttempts: 0,
    MaximumEventAgeInSeconds: 60,
  });
});

test("the reconciler sweeps every hour", () => {
  template.hasResourceProperties("AWS::Events::Rule", {
    ScheduleExpression: "rate(1 hour)",
    Targets: [Match.objectLike({ Arn: reference("Reconciler", "Arn"), Input: '{"sweep":true}' })],
  });
});

test("the outputs name what a user works with", () => {
  const outputs = Object.keys(template.toJSON()["Outputs"]);
  expect(outputs.toSorted()).toEqual(
    [
      "SchedulesTable",
      "OccurrencesTable",
      "QueueUrl",
      "DeadLetterQueueUrl",
      "DeadLetterQueueName",
      "EventBusName",
      "ScheduleSettings",
    ].toSorted(),
  );
});

test("silence is an alarm, and so is what awaits an operator: open dead letters, and messages of either queue", () => {
  template.hasResourceProperties("AWS::CloudWatch::Alarm", {
    Namespace: "AWS/Lambda",
    MetricName: "Invocations",
    Dimensions: [{ Name: "FunctionName", Value: { Ref: Match.stringLikeRegexp("^Dispatcher") } }],
    ComparisonOperator: "LessThanThreshold",
    Threshold: 1,
    Period: 60,
    EvaluationPeriods: 3,
    TreatMissingData: "breaching",
  });
  template.hasResourceProperties("AWS::CloudWatch::Alarm", {
    Namespace: "Punctual",
    MetricName: "Heartbeats",
    Dimensions: [{ Name: "service", Value: "Punctual" }],
    TreatMissingData: "breaching",
  });
  template.hasResourceProperties("AWS::CloudWatch::Alarm", {
    Namespace: "Punctual",
    MetricName: "OpenDeadLetters",
    Dimensions: [{ Name: "service", Value: "Punctual" }],
    Statistic: "Maximum",
    ComparisonOperator: "GreaterThanThreshold",
    Threshold: 0,
    TreatMissingData: "ignore",
  });
  for (const name of ["DeadLetterQueue", "StreamFailures"])
    template.hasResourceProperties("AWS::CloudWatch::Alarm", {
      MetricName: "ApproximateNumberOfMessagesVisible",
      Dimensions: [{ Name: "QueueName", Value: reference(name, "QueueName") }],
      ComparisonOperator: "GreaterThanThreshold",
      Threshold: 0,
    });
});

test("the stack passes the AWS Solutions checks", () => {
  const app = testApp();
  const { punctual } = new PunctualStack(app, "Punctual", { bundles: BUNDLES });
  Validations.of(punctual.node.findChild("StreamFailures")).acknowledge({
    id: "AwsSolutions::AwsSolutions-SQS3",
    reason:
      "It is the dead-letter queue of both stream sources; only event source mappings refer to it, which the rule does not see.",
  });
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  expect(() => app.synth()).not.toThrow();
});
