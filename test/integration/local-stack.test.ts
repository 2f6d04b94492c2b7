import { EventEmitter, once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  PutItemCommand,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import { GetQueueAttributesCommand, ReceiveMessageCommand, SendMessageCommand } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createLocalClients, type LocalClients } from "../../lib/local/engines/clients.ts";
import { startDynamoDb } from "../../lib/local/engines/dynamodb.ts";
import type { Engine } from "../../lib/local/engines/engine.ts";
import { startSqs } from "../../lib/local/engines/sqs.ts";
import { LocalEngineError } from "../../lib/local/errors.ts";
import { type Checkpoints, fileCheckpoints, memoryCheckpoints } from "../../lib/local/event-sources/checkpoints.ts";
import type { EngineProblem } from "../../lib/local/event-sources/report.ts";
import { startEventSources } from "../../lib/local/event-sources/start.ts";
import type { Running } from "../../lib/local/running.ts";
import type { Template } from "../../lib/local/template/document.ts";
import { type LocalStack, provision } from "../../lib/local/template/stack.ts";
import { fixtureJson, fixtureTemplate } from "../local/template/fixture.ts";

let dynamodb: Engine;
beforeAll(async () => {
  dynamodb = await startDynamoDb();
});
afterAll(() => dynamodb.close());

const { TableEEEEEEEE: table, Ticks } = fixtureJson.Resources;

/** The fixture with a table of the test's own, so that tests share one DynamoDB Local without meeting, and without ticks. */
const templateFor = (TableName: string, changes: object = {}): Template =>
  fixtureTemplate({
    TableEEEEEEEE: { ...table, Properties: { ...table.Properties, TableName, ...changes } },
    Ticks: { ...Ticks, Properties: { ...Ticks.Properties, State: "DISABLED" } },
  });

async function clientsFor(endpoint = dynamodb.endpoint): Promise<LocalClients> {
  const sqs = await startSqs();
  const clients = createLocalClients({ dynamodb: endpoint, sqs: sqs.endpoint });
  onTestFinished(async () => {
    clients.destroy();
    await sqs.close();
  });
  return clients;
}

interface World {
  readonly stack: LocalStack;
  readonly clients: LocalClients;
  readonly problems: EngineProblem[];
  readonly sources: Running;
  /** The next event that a function is handed. */
  next(functionId: string): Promise<unknown>;
}

type Behaviour = (functionId: string, event: unknown) => unknown;

/** A running stack whose functions do as `behave` says, and announce each event they are handed. */
async function world(
  template: Template,
  behave: Behaviour = () => undefined,
  checkpoints: Checkpoints = memoryCheckpoints(),
  clients?: LocalClients,
): Promise<World> {
  const connected = clients ?? (await clientsFor());
  const stack = await provision(template, connected);
  const handed = new EventEmitter();
  const problems: EngineProblem[] = [];
  const sources = startEventSources(stack, {
    clients: connected,
    checkpoints,
    report: (problem) => problems.push(problem),
    signal: new AbortController().signal,
    resolveFunction: ({ logicalId }) => ({
      invoke: async (event) => {
        handed.emit(logicalId, event);
        return behave(logicalId, event);
      },
    }),
  });
  onTestFinished(() => sources.stop());
  const next = async (functionId: string): Promise<unknown> => (await once(handed, functionId))[0];
  return { stack, clients: connected, problems, sources, next };
}

const queueUrl = ({ queues }: LocalStack, logicalId: string): string =>
  queues.find((queue) => queue.logicalId === logicalId)?.url ?? "";

const put = (TableName: string, id: string, status: string) =>
  new PutItemCommand({ TableName, Item: { id: { S: id }, status: { S: status } } });

describe("a template", () => {
  it("becomes tables with their indexes, stream and TTL, and queues with their redrive policies", async () => {
    const clients = await clientsFor();
    const stack = await provision(templateFor("shapes"), clients);
    const { Table } = await clients.dynamodb.send(new DescribeTableCommand({ TableName: "shapes" }));
    expect(Table?.GlobalSecondaryIndexes).toMatchObject([
      { IndexName: "due", Projection: { ProjectionType: "INCLUDE", NonKeyAttributes: ["status"] } },
    ]);
    expect(Table?.StreamSpecification).toEqual({ StreamEnabled: true, StreamViewType: "NEW_AND_OLD_IMAGES" });
    const { TimeToLiveDescription } = await clients.dynamodb.send(
      new DescribeTimeToLiveCommand({ TableName: "shapes" }),
    );
    expect(TimeToLiveDescription).toEqual({ TimeToLiveStatus: "ENABLED", AttributeName: "expiresAt" });
    const { Attributes } = await clients.sqs.send(
      new GetQueueAttributesCommand({ QueueUrl: queueUrl(stack, "Jobs99AABBCC"), AttributeNames: ["All"] }),
    );
    expect(Attributes).toMatchObject({ VisibilityTimeout: "1", DeduplicationScope: "messageGroup", FifoQueue: "true" });
    expect(JSON.parse(Attributes?.["RedrivePolicy"] ?? "")).toEqual({
      deadLetterTargetArn: stack.queues.find(({ name }) => name === "DeadLetters.fifo")?.arn,
      maxReceiveCount: 2,
    });
    expect(stack.outputs).toEqual({ TableName: "shapes" });
    expect(stack.functions[0]?.environment).toMatchObject({
      TABLE: "shapes",
      QUEUE_URL: expect.stringContaining("local-jobs.fifo"),
    });
  });

  it("can be applied again to what stands", async () => {
    const clients = await clientsFor();
    const first = await provision(templateFor("again"), clients);
    await clients.dynamodb.send(put("again", "kept", "done"));
    expect(await provision(templateFor("again"), clients)).toEqual(first);
  });

  it("does not take a table of another shape for its own", async () => {
    const clients = await clientsFor();
    await provision(
      templateFor("other", {
        GlobalSecondaryIndexes: [],
        AttributeDefinitions: table.Properties.AttributeDefinitions.slice(0, 1),
      }),
      clients,
    );
    await expect(provision(templateFor("other"), clients)).rejects.toThrow(
      new LocalEngineError(
        "table other must have the template's keys, indexes and stream, got those of another version: use a new --data-dir, or delete the table",
      ),
    );
  });
});

describe("a queue's event source", () => {
  it("deletes what was processed, brings back what failed, and dead-letters what keeps failing", async () => {
    const attempts: Record<string, number> = {};
    const behave: Behaviour = (functionId, event) => {
      if (functionId !== "ConsumerDDDDDDDD" || !isSqsEvent(event)) return undefined;
      const failures = event.Records.filter(({ body }) => {
        attempts[body] = (attempts[body] ?? 0) + 1;
        return body === "poison";
      });
      return { batchItemFailures: failures.map(({ messageId }) => ({ itemIdentifier: messageId })) };
    };
    const { stack, clients } = await world(templateFor("queue"), behave);
    for (const body of ["fine", "poison"])
      await clients.sqs.send(
        new SendMessageCommand({
          QueueUrl: queueUrl(stack, "Jobs99AABBCC"),
          MessageBody: body,
          MessageGroupId: body,
          MessageDeduplicationId: body,
          MessageAttributes: { reason: { DataType: "String", StringValue: "a test" } },
        }),
      );
    const { Messages } = await clients.sqs.send(
      new ReceiveMessageCommand({ QueueUrl: queueUrl(stack, "DeadLetters0A1B2C3D"), WaitTimeSeconds: 20 }),
    );
    expect(Messages?.map(({ Body }) => Body)).toEqual(["poison"]);
    expect(attempts).toEqual({ fine: 1, poison: 2 });
  });

  it("hands a function the event that Lambda would, and reports one that throws", async () => {
    const { stack, clients, problems, sources, next } = await world(templateFor("thrown"), (functionId) => {
      if (functionId === "ConsumerDDDDDDDD") throw new Error("out of order");
    });
    const handed = next("ConsumerDDDDDDDD");
    const url = queueUrl(stack, "Jobs99AABBCC");
    await clients.sqs.send(
      new SendMessageCommand({ QueueUrl: url, MessageBody: "{}", MessageGroupId: "g", MessageDeduplicationId: "d" }),
    );
    expect(await handed).toMatchObject({
      Records: [
        {
          body: "{}",
          eventSource: "aws:sqs",
          eventSourceARN: "arn:aws:sqs:us-east-1:000000000000:local-jobs.fifo",
          attributes: { ApproximateReceiveCount: "1", MessageGroupId: "g", MessageDeduplicationId: "d" },
          messageAttributes: {},
        },
      ],
    });
    await sources.stop();
    expect(problems).toContainEqual({
      kind: "invocation-failed",
      functionName: "Consumer",
      error: expect.objectContaining({ message: "out of order" }),
    });
  });
});

describe("a table's stream", () => {
  it("hands on what its filter passes, in order and promptly dated", async () => {
    const { clients, next } = await world(templateFor("stream"));
    const handed = next("NotifierFFFFFFFF");
    await clients.dynamodb.send(put("stream", "a", "running"));
    const writtenAtSeconds = Math.floor(Date.now() / 1_000);
    await clients.dynamodb.send(
      new UpdateItemCommand({
        TableName: "stream",
        Key: { id: { S: "a" } },
        UpdateExpression: "SET #status = :done",
        ExpressionAttributeNames: { "#status": "status" },
        ExpressionAttributeValues: { ":done": { S: "done" } },
      }),
    );
    const event = await handed;
    expect(event).toMatchObject({
      Records: [
        {
          eventName: "MODIFY",
          dynamodb: { OldImage: { status: { S: "running" } }, NewImage: { status: { S: "done" } } },
        },
      ],
    });
    const created = isStreamEvent(event) ? event.Records[0]?.dynamodb.ApproximateCreationDateTime : Number.NaN;
    expect(created).toBeGreaterThanOrEqual(writtenAtSeconds - 1);
    expect(created).toBeLessThanOrEqual(Math.ceil(Date.now() / 1_000));
  });

  it("gives up a poison record after its retries, tells the on-failure queue, and goes on", async () => {
    const processed: string[] = [];
    const behave: Behaviour = (functionId, event) => {
      if (functionId !== "NotifierFFFFFFFF" || !isStreamEvent(event)) return undefined;
      const ids = event.Records.map((record) => record.dynamodb.Keys.id.S);
      if (ids.includes("poison")) throw new Error(`cannot announce ${ids}`);
      processed.push(...ids);
      return { batchItemFailures: [] };
    };
    const { stack, clients, problems } = await world(templateFor("poison"), behave);
    for (const id of ["before", "poison", "after"]) await clients.dynamodb.send(put("poison", id, "done"));
    const { Messages } = await clients.sqs.send(
      new ReceiveMessageCommand({ QueueUrl: queueUrl(stack, "Failures11223344"), WaitTimeSeconds: 20 }),
    );
    expect(JSON.parse(Messages?.[0]?.Body ?? "")).toMatchObject({
      requestContext: { condition: "RetryAttemptsExhausted", approximateInvokeCount: 2 },
      DDBStreamBatchInfo: { batchSize: 1, streamArn: stack.tables[0]?.streamArn },
    });
    expect(problems).toContainEqual({ kind: "records-discarded", source: "poison", count: 1 });
    expect(processed[0]).toBe("before");
  });

  it("is read on from where it was left when the data is kept across a restart", async () => {
    const dataDir = await mkdtemp(join(tmpdir(), "punctual-data-"));
    onTestFinished(() => rm(dataDir, { recursive: true }));
    for (const [id, expected] of [
      ["first", ["first"]],
      ["second", ["second"]],
    ] as const) {
      const engine = await startDynamoDb({ dataDir });
      const clients = await clientsFor(engine.endpoint);
      const { sources, next } = await world(templateFor("kept"), undefined, await fileCheckpoints(dataDir), clients);
      const handed = next("NotifierFFFFFFFF");
      await clients.dynamodb.send(put("kept", id, "done"));
      const event = await handed;
      expect(isStreamEvent(event) && event.Records.map((record) => record.dynamodb.Keys.id.S)).toEqual(expected);
      await sources.stop();
      await engine.close();
    }
  });
});

interface SqsEvent {
  readonly Records: readonly { readonly messageId: string; readonly body: string }[];
}

const isSqsEvent = (event: unknown): event is SqsEvent => hasRecordsOf(event, "aws:sqs");

interface StreamEvent {
  readonly Records: readonly {
    readonly dynamodb: { readonly Keys: { id: { S: string } }; readonly ApproximateCreationDateTime: number };
  }[];
}

const isStreamEvent = (event: unknown): event is StreamEvent => hasRecordsOf(event, "aws:dynamodb");

function hasRecordsOf(event: unknown, eventSource: string): boolean {
  if (typeof event !== "object" || event === null || !("Records" in event) || !Array.isArray(event.Records))
    return false;
  return event.Records.every((record) => record.eventSource === eventSource);
}
