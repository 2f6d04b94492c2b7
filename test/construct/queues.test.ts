import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Duration } from "aws-cdk-lib";
import { Match, Template } from "aws-cdk-lib/assertions";
import { Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Function as LambdaFunction } from "aws-cdk-lib/aws-lambda";
import { describe, expect, it, onTestFinished } from "vitest";
import { bundlesOf } from "../../lib/construct/bundles.ts";
import {
  InvalidDeploymentError,
  type NamedQueueProps,
  type PunctualProps,
  PunctualStack,
} from "../../lib/construct/index.ts";
import { planQueues } from "../../lib/construct/queue-plan.ts";
import { InvalidTimingError } from "../../lib/core/timing.ts";
import { permissionsOf, rolePermissions } from "../support/permissions/policies.ts";
import { BUNDLES, propertiesOf, templateOf, testApp } from "./world.ts";

const THREE: PunctualProps["queues"] = {
  reports: {
    consumerTimeout: Duration.minutes(15),
    consumerMemorySize: 1_769,
    consumerMaxConcurrency: 5,
    batchSize: 1,
    retry: { maxAttempts: 3, maxDelay: Duration.hours(1) },
  },
  workers: { consumer: false, timeoutMax: Duration.hours(6) },
  "plain-readers": { completion: "enqueued" },
};
const stackWith = (props: PunctualProps) => new PunctualStack(testApp(), "Punctual", { bundles: BUNDLES, ...props });

describe("named queues", () => {
  const stack = stackWith({ queues: THREE });
  const template = Template.fromStack(stack);

  it("are made beside the default one, of which nothing changes", () => {
    const stock = templateOf().toJSON()["Resources"];
    const { Resources } = template.toJSON();
    expect(Object.keys(stock).filter((id) => !(id in Resources))).toEqual([]);
    for (const [name, VisibilityTimeout] of [
      ["reports", 930],
      ["workers", 120],
      ["plainreaders", 30],
    ] as const)
      expect(propertiesOf(template, "AWS::SQS::Queue", `Queues${name}Queue`)).toMatchObject({
        FifoQueue: true,
        DeduplicationScope: "messageGroup",
        SqsManagedSseEnabled: true,
        VisibilityTimeout,
        RedrivePolicy: { maxReceiveCount: 20 },
      });
  });

  it("may all send to the dead-letter queue", () => {
    const { RedriveAllowPolicy } = propertiesOf(template, "AWS::SQS::Queue", "DeadLetterQueue");
    const { sourceQueueArns } = Object(RedriveAllowPolicy);
    expect(JSON.stringify(sourceQueueArns).match(/:Punctual-[a-z-]+[.]fifo/g)).toEqual(
      ["default", "reports", "workers", "plain-readers"].map((name) => `:Punctual-${name}.fifo`),
    );
  });

  it("have a consumer of their own where they are to have one", () => {
    expect(propertiesOf(template, "AWS::Lambda::Function", "QueuesreportsConsumer")).toMatchObject({
      Timeout: 900,
      MemorySize: 1_769,
    });
    template.hasResourceProperties("AWS::Lambda::EventSourceMapping", {
      FunctionName: { Ref: Match.stringLikeRegexp("^QueuesreportsConsumer") },
      BatchSize: 1,
      ScalingConfig: { MaximumConcurrency: 5 },
      FunctionResponseTypes: ["ReportBatchItemFailures"],
    });
    const consumers = Object.keys(template.findResources("AWS::Lambda::Function")).filter((id) =>
      id.includes("Consumer"),
    );
    expect(consumers.map((id) => id.slice(0, -8)).toSorted()).toEqual(["Consumer", "QueuesreportsConsumer"]);
  });

  it("are told to whoever checks schedules", () => {
    expect(JSON.parse(stack.punctual.scheduleSettings)).toMatchObject({
      queues: {
        default: { timeoutMaxSeconds: 290 },
        reports: { timeoutMaxSeconds: 890, retry: { maxAttempts: 3, maxDelaySeconds: 3_600 } },
        workers: { timeoutMaxSeconds: 21_600 },
        "plain-readers": { completion: "enqueued" },
      },
    });
  });

  it("are named by the stack's outputs, and watched for being left unread", () => {
    expect(Object.keys(template.toJSON()["Outputs"])).toEqual(
      expect.arrayContaining(["QueueUrl", "QueueUrlReports", "QueueUrlWorkers", "QueueUrlPlainReaders"]),
    );
    for (const name of ["reports", "workers", "plainreaders"])
      expect(propertiesOf(template, "AWS::CloudWatch::Alarm", `Queues${name}Unread`)).toMatchObject({
        MetricName: "ApproximateAgeOfOldestMessage",
        Threshold: 3_600,
      });
  });

  it("are sent to by the dispatcher alone, and each consumer reads its own alone", () => {
    const sends = permissionsOf(template, "Dispatcher").filter((line) => line.startsWith("sqs:"));
    expect(sends).toEqual(
      ["Queue", "QueuesplainreadersQueue", "QueuesreportsQueue", "QueuesworkersQueue"].map(
        (name) => `sqs:SendMessage ${name}`,
      ),
    );
    expect(permissionsOf(template, "QueuesreportsConsumer")).toEqual([
      "dynamodb:BatchGetItem Occurrences",
      "dynamodb:GetItem Occurrences",
      "dynamodb:PartiQLUpdate Occurrences",
      "dynamodb:Query Occurrences",
      "logs:CreateLogStream QueuesreportsConsumerLogs",
      "logs:PutLogEvents QueuesreportsConsumerLogs",
      "sqs:ChangeMessageVisibility QueuesreportsQueue",
      "sqs:DeleteMessage QueuesreportsQueue",
      "sqs:GetQueueAttributes QueuesreportsQueue",
      "sqs:GetQueueUrl QueuesreportsQueue",
      "sqs:ReceiveMessage QueuesreportsQueue",
      "sqs:SendMessage DeadLetterQueue",
    ]);
  });
});

describe("a worker's grant", () => {
  it("is what running the messages of one queue takes, and no more", () => {
    const stack = stackWith({ queues: THREE });
    const role = new Role(stack, "Worker", { assumedBy: new ServicePrincipal("ecs-tasks.amazonaws.com") });
    stack.punctual.grantWork(role, "workers");
    expect(rolePermissions(Template.fromStack(stack), "Worker")).toEqual([
      "dynamodb:BatchGetItem Occurrences",
      "dynamodb:GetItem Occurrences",
      "dynamodb:PartiQLUpdate Occurrences",
      "dynamodb:Query Occurrences",
      "sqs:ChangeMessageVisibility QueuesworkersQueue",
      "sqs:DeleteMessage QueuesworkersQueue",
      "sqs:ReceiveMessage QueuesworkersQueue",
      "sqs:SendMessage DeadLetterQueue",
    ]);
    expect(Object.keys(stack.punctual.workerEnvironment)).toEqual(
      expect.arrayContaining(["PUNCTUAL_QUEUES", "PUNCTUAL_OCCURRENCES_TABLE", "PUNCTUAL_DEAD_LETTER_QUEUE_URL"]),
    );
  });

  it.each([
    [
      "nothing",
      "queueName must be one of this deployment's queues (default, reports, workers, plain-readers), got nothing",
    ],
    ["plain-readers", "whose completion is enqueued: its readers need queues[...].grantConsumeMessages alone"],
  ])("is refused for %s", (name, message) => {
    const stack = stackWith({ queues: THREE });
    const role = new Role(stack, "Worker", { assumedBy: new ServicePrincipal("ecs-tasks.amazonaws.com") });
    expect(() => stack.punctual.grantWork(role, name)).toThrow(InvalidDeploymentError);
    expect(() => stack.punctual.grantWork(role, name)).toThrow(message);
  });
});

describe("built-in jobs", () => {
  const functionArn = "arn:aws:lambda:eu-west-1:123456789012:function:bill:live";
  const allowing = (props: PunctualProps) => {
    const stack = stackWith({
      queues: { reports: {} },
      eventJobSource: "acme.jobs",
      httpAllowedHosts: ["api.example.com"],
      ...props,
    });
    return Template.fromStack(stack);
  };

  it("are granted what is allowed to them, on each consumer, and nothing by default", () => {
    const app = testApp();
    const stack = new PunctualStack(app, "Punctual", {
      bundles: BUNDLES,
      lambdaFunctionNames: [functionArn],
      eventJobSource: "acme.jobs",
      queues: { reports: {} },
    });
    const template = Template.fromStack(stack);
    for (const consumer of ["Consumer", "QueuesreportsConsumer"])
      expect(permissionsOf(template, consumer)).toEqual(
        expect.arrayContaining([
          `lambda:InvokeFunction ${functionArn}`,
          "events:PutEvents arn:<Partition>:events:<Region>:<AccountId>:event-bus/default",
        ]),
      );
    const stock = permissionsOf(templateOf(), "Consumer");
    expect(stock.filter((line) => /^(lambda|events):/.test(line))).toEqual([]);
  });

  it("put events under their own source alone, never the scheduler's", () => {
    allowing({}).hasResourceProperties("AWS::IAM::Policy", {
      PolicyDocument: {
        Statement: Match.arrayWith([
          Match.objectLike({
            Action: "events:PutEvents",
            Condition: { StringEquals: { "events:source": "acme.jobs" } },
          }),
        ]),
      },
    });
  });

  it("know in their environment what they may reach", () => {
    const stack = testApp();
    const inner = new PunctualStack(stack, "Punctual", { bundles: BUNDLES, httpAllowedHosts: ["api.example.com"] });
    const imported = LambdaFunction.fromFunctionArn(inner, "Bill", functionArn);
    const other = new PunctualStack(stack, "Other", { bundles: BUNDLES, lambdaFunctions: [imported] });
    expect(JSON.parse(inner.punctual.workerEnvironment["PUNCTUAL_BUILTIN_JOBS"] ?? "")).toEqual({
      httpAllowedHosts: ["api.example.com"],
      lambdaFunctions: [],
    });
    expect(JSON.parse(other.punctual.workerEnvironment["PUNCTUAL_BUILTIN_JOBS"] ?? "")).toMatchObject({
      lambdaFunctions: [functionArn],
    });
  });

  it.each([
    [
      { httpAllowedHosts: ["*"] },
      'httpAllowedHosts.0: must be a host (api.example.com, *.example.com) or an origin (http://10.0.0.5:8080), got "*"',
    ],
    [{ eventJobSource: "punctual" }, 'got "punctual"'],
    [{ eventJobSource: "aws.s3" }, 'eventJobSource: must be 1-256 characters, not begin with "aws."'],
  ])("cannot be allowed %j", (props, message) => {
    expect(() => stackWith(props)).toThrow(InvalidDeploymentError);
    expect(() => stackWith(props)).toThrow(message);
  });
});

describe("settings of named queues", () => {
  const problemsOf = (queues: Record<string, NamedQueueProps>) => () => stackWith({ queues });

  it.each<[what: string, queues: Record<string, NamedQueueProps>, message: string]>([
    [
      "a name that is no name",
      { "a.b": {} },
      "queues.a.b: must be named by a letter and up to 39 letters, digits, '_' or '-'",
    ],
    ["the default queue's name", { Default: {} }, "queues.Default: must have another name"],
    ["two names that look alike", { "a-b": {}, AB: {} }, "queues.AB: must differ from queue a-b by more than case"],
    [
      "a consumer that nobody hears",
      { a: { consumer: true, completion: "enqueued" } },
      "queues.a.consumer: must not be true",
    ],
    [
      "jobs without a consumer",
      { a: { consumer: false, jobs: "x.ts" } },
      "queues.a.jobs: must not be set: the queue has no consumer function",
    ],
    ["retries where none happen", { a: { completion: "enqueued", retry: {} } }, "queues.a.retry: must not be set"],
    [
      "a batch that no FIFO queue gives",
      { a: { batchSize: 11 } },
      "queues.a.batchSize: must be a whole number from 1 to 10, got 11",
    ],
    [
      "attempts without end",
      { a: { retry: { maxAttempts: 101 } } },
      "queues.a.retry.maxAttempts: must be a whole number from 1 to 100, got 101",
    ],
    [
      "a timeout that no function has",
      { a: { consumerTimeout: Duration.hours(1) } },
      "queues.a.consumerTimeout: must be a number of seconds from 1 to 900, got 3600",
    ],
  ])("are refused for %s", (_, queues, message) => {
    expect(problemsOf(queues)).toThrow(InvalidDeploymentError);
    expect(problemsOf(queues)).toThrow(message);
  });

  it("are refused all at once", () => {
    const message =
      /queues\.a\.batchSize: .*; queues\.b\.consumerMemorySize: must be a whole number from 128 to 10240, got 64/;
    expect(problemsOf({ a: { batchSize: 0 }, b: { consumerMemorySize: 64 } })).toThrow(message);
  });

  it("must fit together, with the numbers of each queue in the message", () => {
    const queues = { a: { timeoutMax: Duration.minutes(5) }, b: { visibilityTimeout: Duration.minutes(5) } };
    expect(problemsOf(queues)).toThrow(InvalidTimingError);
    expect(problemsOf(queues)).toThrow(
      /queues\.a\.consumerTimeoutSeconds: must be at least timeoutMaxSeconds 300 \+ 10 = 310, .*got 300; queues\.b\.visibilityTimeoutSeconds: must be at least consumerTimeoutSeconds 300 \+ 30 = 330, .*got 300/,
    );
  });

  it("may be nine queues, since the dead-letter queue takes from ten", () => {
    const many = (count: number) => Object.fromEntries([...Array(count).keys()].map((n) => [`q${n}`, {}]));
    expect(problemsOf(many(9))).not.toThrow();
    expect(problemsOf(many(10))).toThrow(
      "queues: must be at most 9 beside default, since a dead-letter queue takes from at most 10, got 10",
    );
  });

  it("must leave room in the functions' environment", () => {
    const httpAllowedHosts = [...Array(200).keys()].map((n) => `api-${n}.partner.example`);
    expect(() => stackWith({ httpAllowedHosts })).toThrow(
      /environment must be at most 4096 bytes, got about [5-9]\d{3}/,
    );
  });

  it("bundle a queue's own jobs into its consumer alone", () => {
    const directory = mkdtempSync(join(tmpdir(), "punctual-queues-"));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    const jobs = join(directory, "jobs.ts");
    writeFileSync(jobs, 'export default { own: () => "a job of this queue\'s own" };');
    const bundleOf = bundlesOf({});
    const { named } = planQueues({ queues: { "own-jobs-test": { jobs }, shared: {} } });
    const textFor = (queue: (typeof named)[number] | undefined) =>
      readFileSync(join(bundleOf("consumer", queue), "index.mjs"), "utf8");
    expect(textFor(named[0])).toContain("a job of this queue's own");
    expect(textFor(named[1])).not.toContain("a job of this queue's own");
    expect(bundleOf("consumer", named[1])).toBe(bundleOf("consumer"));
  });
});
