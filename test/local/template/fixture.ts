import { parseTemplate, type Template } from "../../../lib/local/template/document.ts";

/** CloudFormation's placeholder in the text of an `Fn::Sub`. */
export const placeholder = (name: string): string => `\${${name}}`;

const keys = (...names: string[]) =>
  names.map((AttributeName, index) => ({ AttributeName, KeyType: index === 0 ? "HASH" : "RANGE" }));

const table = {
  Type: "AWS::DynamoDB::GlobalTable",
  Properties: {
    AttributeDefinitions: [
      { AttributeName: "id", AttributeType: "S" },
      { AttributeName: "shard", AttributeType: "S" },
      { AttributeName: "dueAt", AttributeType: "N" },
    ],
    BillingMode: "PAY_PER_REQUEST",
    KeySchema: keys("id"),
    GlobalSecondaryIndexes: [
      {
        IndexName: "due",
        KeySchema: keys("shard", "dueAt"),
        Projection: { ProjectionType: "INCLUDE", NonKeyAttributes: ["status"] },
      },
    ],
    Replicas: [
      { Region: { Ref: "AWS::Region" }, PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true } },
    ],
    StreamSpecification: { StreamViewType: "NEW_AND_OLD_IMAGES" },
    TimeToLiveSpecification: { AttributeName: "expiresAt", Enabled: true },
  },
};

const fifo = { FifoQueue: true, DeduplicationScope: "messageGroup", FifoThroughputLimit: "perMessageGroupId" };

const queues = {
  DeadLetters0A1B2C3D: {
    Type: "AWS::SQS::Queue",
    Properties: {
      ...fifo,
      MessageRetentionPeriod: 1_209_600,
      RedriveAllowPolicy: { sourceQueueArns: [{ "Fn::Unheard": "of, but nobody asks for it" }] },
    },
  },
  Failures11223344: { Type: "AWS::SQS::Queue", Properties: {} },
  Jobs99AABBCC: {
    Type: "AWS::SQS::Queue",
    Properties: {
      ...fifo,
      QueueName: { "Fn::Join": ["", [{ Ref: "AWS::StackName" }, "-jobs.fifo"]] },
      VisibilityTimeout: 1,
      RedrivePolicy: { deadLetterTargetArn: { "Fn::GetAtt": ["DeadLetters0A1B2C3D", "Arn"] }, maxReceiveCount: 2 },
    },
  },
};

const functions = {
  ConsumerDDDDDDDD: {
    Type: "AWS::Lambda::Function",
    Properties: {
      Handler: "index.handler",
      Code: { S3Bucket: { "Fn::Sub": `cdk-assets-${placeholder("AWS::AccountId")}` } },
      Timeout: 5,
      MemorySize: 256,
      Environment: {
        Variables: { QUEUE_URL: { Ref: "Jobs99AABBCC" }, TABLE: { Ref: "TableEEEEEEEE" }, SHARDS: "4" },
      },
    },
    Metadata: { "aws:cdk:path": "Stack/Consumer/Resource" },
  },
  NotifierFFFFFFFF: { Type: "AWS::Lambda::Function", Properties: {} },
};

const wiring = {
  QueueMapping: {
    Type: "AWS::Lambda::EventSourceMapping",
    Properties: {
      EventSourceArn: { "Fn::GetAtt": ["Jobs99AABBCC", "Arn"] },
      FunctionName: { Ref: "ConsumerDDDDDDDD" },
      BatchSize: 10,
      FunctionResponseTypes: ["ReportBatchItemFailures"],
      ScalingConfig: { MaximumConcurrency: 2 },
    },
  },
  StreamMapping: {
    Type: "AWS::Lambda::EventSourceMapping",
    Properties: {
      EventSourceArn: { "Fn::GetAtt": ["TableEEEEEEEE", "StreamArn"] },
      FunctionName: { "Fn::GetAtt": ["NotifierFFFFFFFF", "Arn"] },
      StartingPosition: "TRIM_HORIZON",
      BatchSize: 25,
      BisectBatchOnFunctionError: true,
      MaximumRetryAttempts: 1,
      FunctionResponseTypes: ["ReportBatchItemFailures"],
      FilterCriteria: { Filters: [{ Pattern: '{"dynamodb":{"NewImage":{"status":{"S":["done","failed"]}}}}' }] },
      DestinationConfig: { OnFailure: { Destination: { "Fn::GetAtt": ["Failures11223344", "Arn"] } } },
    },
  },
  Ticks: {
    Type: "AWS::Events::Rule",
    Properties: {
      ScheduleExpression: "rate(1 minute)",
      State: "ENABLED",
      Targets: [{ Id: "first", Arn: { "Fn::GetAtt": ["ConsumerDDDDDDDD", "Arn"] }, Input: '{"dispatcher":1}' }],
    },
  },
};

/** A template with one of everything that the local engine imitates, as the CDK would synthesize it. */
export const fixtureJson = {
  Resources: { TableEEEEEEEE: table, ...queues, ...functions, ...wiring },
  Outputs: { TableName: { Value: { Ref: "TableEEEEEEEE" } } },
};

/** {@link fixtureJson}, read; `resources` are added or take the place of those of the same id. */
export const fixtureTemplate = (resources: Record<string, unknown> = {}): Template =>
  parseTemplate({ ...fixtureJson, Resources: { ...fixtureJson.Resources, ...resources } });
