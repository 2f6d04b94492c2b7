import { EventEmitter } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  DeleteItemCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import { ReceiveMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import stockJobs from "../../functions/jobs.ts";
import type { JobMap } from "../../lib/jobs/types.ts";
import { createClosing } from "../../lib/local/closing.ts";
import { LOCAL_CREDENTIALS, LOCAL_REGION } from "../../lib/local/engines/clients.ts";
import { startEngines } from "../../lib/local/engines/start.ts";
import { type LocalScheduler, startScheduler } from "../../lib/local/start.ts";
import type { Template } from "../../lib/local/template/document.ts";
import { synthesizedTemplate } from "../../lib/local/template/synthesize.ts";
import { consumerHere } from "../support/consumer-here.ts";

const PROJECT_DIR = fileURLToPath(new URL("../../", import.meta.url));
const running = new AbortController();

let template: Template;
/** One scheduler for all tests that need but schedules of their own: it takes seconds to start. */
let here: World;
const attempts: number[] = [];

beforeAll(async () => {
  template = await synthesizedTemplate(PROJECT_DIR, join(PROJECT_DIR, ".punctual"), running.signal);
  here = await world({
    jobs: {
      flaky: (_, { attempt }) => {
        attempts.push(attempt);
        if (attempt < 3) throw new Error("not yet");
      },
      doomed: () => {
        throw new Error("never");
      },
    },
  });
});
afterAll(async () => {
  await here.close();
  running.abort();
});

interface World {
  readonly scheduler: LocalScheduler;
  readonly dynamodb: DynamoDBClient;
  readonly sqs: SQSClient;
  /** The next line told that holds each of `parts`. */
  line(...parts: string[]): Promise<string>;
  close(): Promise<void>;
}

/** The whole scheduler on free ports, with `jobs` beside the stock ones. */
async function world(options: { jobs?: JobMap; dataDir?: string; use?: LocalScheduler } = {}): Promise<World> {
  const { jobs = {}, dataDir, use } = options;
  const closing = createClosing();
  const told = new EventEmitter();
  const tell = (text: string): void => void told.emit("line", text);
  const engines = await startEngines(
    {
      dynamodbPort: 0,
      sqsPort: 0,
      onBusEvent: () => {},
      ...(dataDir !== undefined && { dataDir }),
      ...(use && { dynamodbEndpoint: use.endpoints.dynamodb, sqsEndpoint: use.endpoints.sqs }),
    },
    closing,
  );
  const scheduler = await startScheduler({
    engines,
    template,
    closing,
    makeConsumer: consumerHere({ ...stockJobs, ...jobs }, tell),
    checkpointDir: dataDir,
    print: tell,
    tell,
  });
  const config = { region: LOCAL_REGION, credentials: LOCAL_CREDENTIALS };
  const dynamodb = new DynamoDBClient({ ...config, endpoint: scheduler.endpoints.dynamodb });
  const sqs = new SQSClient({ ...config, endpoint: scheduler.endpoints.sqs });
  closing.add(() => {
    dynamodb.destroy();
    sqs.destroy();
  });
  const line = (...parts: string[]): Promise<string> =>
    new Promise((resolve) => {
      const look = (text: string): void => {
        if (!parts.every((part) => text.includes(part))) return;
        told.off("line", look);
        resolve(text);
      };
      told.on("line", look);
    });
  return { scheduler, dynamodb, sqs, line, close: () => closing.close() };
}

/** A world of the test's own, which ends with it. */
async function ownWorld(options: Parameters<typeof world>[0] = {}): Promise<World> {
  const own = await world(options);
  onTestFinished(() => own.close());
  return own;
}

const put = ({ scheduler, dynamodb }: World, item: Record<string, { S: string }>) =>
  dynamodb.send(new PutItemCommand({ TableName: scheduler.settings.schedulesTable, Item: item }));

describe("an item that somebody puts into the table", () => {
  it("fires with nothing but an id and a rate, follows an edit, and stops when it is deleted", async () => {
    const { dynamodb, scheduler, line } = here;
    const TableName = scheduler.settings.schedulesTable;
    const Key = { scheduleId: { S: "hello" } };

    const fired = line("SUCCEEDED", "hello@");
    await put(here, { scheduleId: { S: "hello" }, rate: { S: "1 second" } });
    await fired;

    const edited = line("schedule", "hello", "rate 2 seconds");
    await dynamodb.send(
      new UpdateItemCommand({
        TableName,
        Key,
        UpdateExpression: "SET #rate = :rate",
        ExpressionAttributeNames: { "#rate": "rate" },
        ExpressionAttributeValues: { ":rate": { S: "2 seconds" } },
      }),
    );
    await edited;
    const [, firing = ""] = /hello@(\S+Z)/.exec(await line("SUCCEEDED", "hello@")) ?? [];
    expect(firing).not.toBe("");

    const deleted = line("schedule", "hello", "deleted");
    await dynamodb.send(new DeleteItemCommand({ TableName, Key }));
    await deleted;
    // A marker of its own, so that there is something to wait for: by the time it has run, nothing of the other may run on.
    const marker = line("SUCCEEDED", "marker@");
    await put(here, { scheduleId: { S: "marker" }, at: { S: new Date(Date.now() + 4_000).toISOString() } });
    await marker;
    expect(scheduler.view.heads.get("hello")?.size ?? 0).toBe(0);
  });

  it("fires nothing when its cron is wrong, and says what would be right", async () => {
    const invalid = here.line("schedule", "bad", "INVALID");
    await put(here, { scheduleId: { S: "bad" }, cron: { S: "61 * * * *" } });
    await invalid;
    const written = here.line("schedule", "other", "ACTIVE");
    await put(here, { scheduleId: { S: "other" }, cron: { S: "0 0 1 1 *" } });
    await written;
    const { Item } = await here.dynamodb.send(
      new GetItemCommand({ TableName: here.scheduler.settings.schedulesTable, Key: { scheduleId: { S: "bad" } } }),
    );
    expect(Item?.["status"]?.M).toMatchObject({
      state: { S: "INVALID" },
      problem: { S: expect.stringMatching(/^cron: minute must be .*, got "61"$/) },
    });
    expect(here.scheduler.view.heads.has("bad")).toBe(false);
  });
});

describe("a run that fails", () => {
  it("is tried again until it succeeds", async () => {
    const ended = here.line("SUCCEEDED", "flaky@", "attempt 3/");
    await here.scheduler.put([
      {
        scheduleId: "flaky",
        at: new Date(Date.now() + 500).toISOString(),
        job: "flaky",
        retry: { baseDelaySeconds: 0 },
      },
    ]);
    await ended;
    expect(attempts).toEqual([1, 2, 3]);
  });

  it("ends as a dead letter, on the row and in the queue, with the reason as a message attribute", async () => {
    const ended = here.line("DEAD_LETTERED", "doomed@", "attempts-exhausted", "never");
    const at = new Date(Date.now() + 500).toISOString();
    await here.scheduler.put([
      { scheduleId: "doomed", at, job: "doomed", retry: { maxAttempts: 2, baseDelaySeconds: 0 } },
    ]);
    await ended;
    const { Messages } = await here.sqs.send(
      new ReceiveMessageCommand({
        QueueUrl: here.scheduler.settings.deadLetterQueueUrl,
        WaitTimeSeconds: 20,
        MessageAttributeNames: ["All"],
      }),
    );
    expect(JSON.parse(Messages?.[0]?.Body ?? "")).toMatchObject({ scheduleId: "doomed", scheduledFor: at });
    const attributes = Object.values(Messages?.[0]?.MessageAttributes ?? {}).map(({ StringValue }) => StringValue);
    expect(attributes.join(" ")).toContain("never");
    expect([...here.scheduler.view.deadLetters.keys()]).toContain(`doomed@${at}`);
  });
});

describe("the local engine", () => {
  it("goes on after a restart with the schedules it kept", async () => {
    const dataDir = await mkdtemp(join(tmpdir(), "punctual-data-"));
    onTestFinished(() => rm(dataDir, { recursive: true }));
    const before = await ownWorld({ dataDir });
    const fired = before.line("SUCCEEDED", "beat@");
    await put(before, { scheduleId: { S: "beat" }, rate: { S: "1 second" } });
    await fired;
    await before.close();
    const after = await ownWorld({ dataDir });
    const firesAgain = after.line("SUCCEEDED", "beat@");
    expect([...after.scheduler.view.schedules.keys()]).toEqual(["beat"]);
    await firesAgain;
  });

  it("ends without waiting for its dispatcher, which works for a whole minute", async () => {
    const idle = await ownWorld();
    let late = false;
    void idle.line("did not end in time").then(() => {
      late = true;
    });
    await idle.close();
    expect(late).toBe(false);
  });

  it("uses engines that already run", async () => {
    const theirs = here;
    const ours = await ownWorld({ use: theirs.scheduler });
    const fired = ours.line("SUCCEEDED", "shared@");
    await put(theirs, { scheduleId: { S: "shared" }, rate: { S: "1 second" } });
    await fired;
    await ours.close();
    await theirs.dynamodb.send(
      new GetItemCommand({
        TableName: theirs.scheduler.settings.schedulesTable,
        Key: { scheduleId: { S: "shared" } },
      }),
    );
  });

  it("refuses an invalid schedule before it puts any", async () => {
    const { scheduler, dynamodb } = here;
    await expect(
      scheduler.put([
        { scheduleId: "good", rate: "1 hour" },
        { scheduleId: "bad", rate: "sometimes" },
      ]),
    ).rejects.toThrow(/^schedule bad is not valid: rate/);
    const { Item } = await dynamodb.send(
      new GetItemCommand({ TableName: scheduler.settings.schedulesTable, Key: { scheduleId: { S: "good" } } }),
    );
    expect(Item).toBeUndefined();
  });
});
