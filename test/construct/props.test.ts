import { Duration, RemovalPolicy, Stack } from "aws-cdk-lib";
import { Match, Template } from "aws-cdk-lib/assertions";
import { EventBus } from "aws-cdk-lib/aws-events";
import { expect, test } from "vitest";
import { settingsFromContext } from "../../lib/construct/context.ts";
import { InvalidDeploymentError, Punctual, type PunctualProps, PunctualStack } from "../../lib/construct/index.ts";
import { InvalidTimingError } from "../../lib/core/timing.ts";
import { BUNDLES, propertiesOf, templateOf, testApp } from "./world.ts";

const build = (props: PunctualProps) => () => new PunctualStack(testApp(), "Punctual", { bundles: BUNDLES, ...props });

test.each<[broken: string, props: PunctualProps, message: string]>([
  [
    "a history shorter than the catch-up window",
    { history: Duration.hours(12) },
    "historySeconds: must be at least catchupWindowSeconds 86400, so that catching up can see what already ran, got 43200",
  ],
  // F296. Not the six timeouts that AWS advises: that is for a batching window and for throttled functions, and a FIFO queue
  // has no window, a message that comes again meets a run that is started, and 20 receives outlast the throttling.
  [
    "a visibility timeout that ends while the consumer works",
    { consumerTimeout: Duration.minutes(10), visibilityTimeout: Duration.minutes(10) },
    "queues.default.visibilityTimeoutSeconds: must be at least consumerTimeoutSeconds 600 + 30 = 630, so that no message returns while its consumer works, got 600",
  ],
  [
    "a consumer without time for a job",
    { consumerTimeout: Duration.seconds(10) },
    "queues.default.timeoutMaxSeconds: must be more than 0, got 0",
  ],
  [
    "messages that vanish before their runs are given up",
    { messageRetention: Duration.hours(6) },
    "messageRetentionSeconds: must be at least startDeadlineSeconds 86400, so that SQS keeps a message as long as its run may start, got 21600",
  ],
  // F311: a function that is throttled must not cost a run that nobody tried.
  [
    "too few receives",
    { maxReceiveCount: 3 },
    "maxReceiveCount: must be at least 20, since handing a message back costs a receive, got 3",
  ],
])("synthesis fails on %s, with the numbers", (_, props, message) => {
  expect(build(props)).toThrow(InvalidTimingError);
  expect(build(props)).toThrow(message);
});

test.each<[props: PunctualProps, message: string]>([
  [{ shards: 0 }, "shards: must be a whole number from 1 to 1000, got 0"],
  [{ shards: 2.5 }, "shards: must be a whole number from 1 to 1000, got 2.5"],
  [{ shards: 4, dispatchers: 5 }, "dispatchers: must be a whole number from 1 to 4, got 5"],
  [{ consumerTimeout: Duration.minutes(16) }, "consumerTimeout: must be a number of seconds from 1 to 900, got 960"],
])("refuses %j", (props, message) => {
  expect(build(props)).toThrow(InvalidDeploymentError);
  expect(build(props)).toThrow(message);
});

test("seven dispatchers are seven targets of two rules, each told its number", () => {
  const template = templateOf({ dispatchers: 7 });
  const rules = template.findResources("AWS::Events::Rule", { Properties: { ScheduleExpression: "rate(1 minute)" } });
  const inputs = Object.values(rules).map(({ Properties }) =>
    Properties.Targets.map(({ Input }: { Input: string }): unknown => JSON.parse(Input)),
  );
  const numbered = (numbers: readonly number[]) => numbers.map((dispatcher) => ({ dispatcher, of: 7 }));
  expect(inputs).toEqual([numbered([0, 1, 2, 3, 4]), numbered([5, 6])]);
});

test("metrics are by schedule only where the deployment asks for that", () => {
  const told = (props: PunctualProps) =>
    propertiesOf(templateOf(props), "AWS::Lambda::Function", "Consumer")["Environment"];
  expect(told({})).toMatchObject({ Variables: { PUNCTUAL_METRICS_BY_SCHEDULE: "false" } });
  expect(told({ metricsBySchedule: true })).toMatchObject({ Variables: { PUNCTUAL_METRICS_BY_SCHEDULE: "true" } });
});

test("what is announced beyond failures is what the deployment asks for", () => {
  const template = templateOf({ announce: ["started", "succeeded", "retrying"] });
  const ends = ["SUCCEEDED", "FAILED", "DEAD_LETTERED", "SKIPPED", "CANCELLED"];
  const status = (...statuses: string[]) => ({ status: { S: statuses } });
  const patterns = [
    { eventName: ["INSERT"], dynamodb: { NewImage: status(...ends) } },
    {
      eventName: ["MODIFY"],
      dynamodb: { OldImage: status("PENDING", "DISPATCHED", "RUNNING", "RETRYING"), NewImage: status(...ends) },
    },
    { eventName: ["MODIFY"], dynamodb: { OldImage: status("DISPATCHED"), NewImage: status("RUNNING") } },
    { eventName: ["MODIFY"], dynamodb: { OldImage: status("RUNNING"), NewImage: status("RETRYING") } },
  ];
  template.hasResourceProperties("AWS::Lambda::EventSourceMapping", {
    FilterCriteria: { Filters: patterns.map((pattern) => ({ Pattern: Match.serializedJson(pattern) })) },
  });
});

test("by default the stream's filter leaves successes, starts and retries out", () => {
  const ofNotifier = { Properties: { FunctionName: { Ref: Match.stringLikeRegexp("^Notifier") } } };
  const filters = JSON.stringify(templateOf().findResources("AWS::Lambda::EventSourceMapping", ofNotifier));
  expect(filters).not.toContain("SUCCEEDED");
  expect(filters.match(/Pattern/g)).toHaveLength(2);
});

test("data that may be destroyed is not protected from it", () => {
  templateOf({ removalPolicy: RemovalPolicy.DESTROY }).allResources("AWS::DynamoDB::GlobalTable", {
    DeletionPolicy: "Delete",
    Properties: { Replicas: [Match.objectLike({ DeletionProtectionEnabled: false })] },
  });
});

test("a longer consumer timeout carries the queue's visibility and the jobs' limit with it", () => {
  const template = templateOf({ consumerTimeout: Duration.minutes(15), consumerMaxConcurrency: 20 });
  template.hasResourceProperties("AWS::SQS::Queue", { VisibilityTimeout: 930, QueueName: Match.anyValue() });
  template.hasResourceProperties("AWS::Lambda::EventSourceMapping", {
    ScalingConfig: { MaximumConcurrency: 20 },
    BatchSize: 10,
  });
  const { Variables } = Object(propertiesOf(template, "AWS::Lambda::Function", "Consumer")["Environment"]);
  expect(JSON.stringify(Variables.PUNCTUAL_QUEUES)).toMatch(/timeoutMaxSeconds\W+890\b/);
});

test("two schedulers in one stack share neither queue nor metrics, and announce to the bus they are given", () => {
  const stack = new Stack(testApp(), "Two");
  const eventBus = EventBus.fromEventBusName(stack, "Bus", "orders");
  for (const id of ["First", "Second"]) new Punctual(stack, id, { bundles: BUNDLES, eventBus });
  const template = Template.fromStack(stack);
  for (const id of ["First", "Second"]) {
    expect(propertiesOf(template, "AWS::SQS::Queue", `${id}Queue`)["QueueName"]).toMatch(
      new RegExp(`^Two-${id}-[0-9A-F]{8}-default[.]fifo$`),
    );
    expect(propertiesOf(template, "AWS::Lambda::Function", `${id}Notifier`)["Environment"]).toMatchObject({
      Variables: { PUNCTUAL_DEPLOYMENT: `Two/${id}`, PUNCTUAL_EVENT_BUS_NAME: "orders" },
    });
    expect(JSON.stringify(propertiesOf(template, "AWS::IAM::Policy", `${id}NotifierRoleDefaultPolicy`))).toContain(
      ":event-bus/orders",
    );
  }
});

const read = (context: Record<string, unknown>) => settingsFromContext(context);

test("without any context the stock app has its stock name and settings", () => {
  expect(read({})).toEqual({ stackName: "Punctual", props: {} });
});

test("context from the command line is text, and is read as what it stands for", () => {
  const { stackName, props } = read({
    stack: "Staging",
    jobs: "./jobs.ts",
    shards: "16",
    dispatchers: 2,
    historyDays: "7",
    consumerTimeoutSeconds: "900",
    announce: "started,retrying",
    metricsBySchedule: "true",
    logLevel: "DEBUG",
    data: "destroy",
  });
  expect(stackName).toBe("Staging");
  expect(props).toEqual({
    jobs: "./jobs.ts",
    shards: 16,
    dispatchers: 2,
    history: Duration.days(7),
    consumerTimeout: Duration.seconds(900),
    announce: ["started", "retrying"],
    metricsBySchedule: true,
    logLevel: "DEBUG",
    removalPolicy: RemovalPolicy.DESTROY,
  });
});

test("everything that cannot be used is named in one error", () => {
  const context = { shards: "many", data: "burn", announce: "ended", metricsBySchedule: "yes", jobs: "" };
  expect(() => read(context)).toThrow(InvalidDeploymentError);
  for (const message of [
    'shards: must be a positive whole number, got "many"',
    'data: must be keep or destroy, got "burn"',
    'announce.0: must be a list of started, succeeded, retrying, got "ended"',
    'metricsBySchedule: must be true or false, got "yes"',
    'jobs: must not be empty, got ""',
  ])
    expect(() => read(context)).toThrow(message);
});

test("a name that is nobody's is refused, whatever the CDK's own context holds", () => {
  const cdks = { "@aws-cdk/core:checkSecretUsage": true, "aws:cdk:enable-path-metadata": true, "hosted-zone:x": {} };
  expect(read(cdks)).toEqual({ stackName: "Punctual", props: {} });
  expect(() => read({ ...cdks, shard: "16" })).toThrow(InvalidDeploymentError);
  expect(() => read({ ...cdks, shard: "16" })).toThrow(
    /^context is not valid: shard: is no setting of this app; it has stack, jobs, .*$/,
  );
});

test("lists of hosts and functions are texts with commas", () => {
  const { props } = read({
    httpAllowedHosts: "a.example,*.b.example",
    lambdaFunctions: "bill:live",
    eventJobSource: "acme",
  });
  expect(props).toEqual({
    httpAllowedHosts: ["a.example", "*.b.example"],
    lambdaFunctionNames: ["bill:live"],
    eventJobSource: "acme",
  });
  expect(() => read({ lambdaFunctions: "bill,not a name" })).toThrow(
    "lambdaFunctions.1: must be a list of functions' names or ARNs, got ",
  );
});
