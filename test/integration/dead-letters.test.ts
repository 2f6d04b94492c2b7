import { DeleteMessageCommand, type Message, ReceiveMessageCommand, SendMessageCommand } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { main } from "../../lib/cli/main.ts";
import type { Occurrence } from "../../lib/core/occurrence.ts";
import { LOCAL_CREDENTIALS, LOCAL_REGION } from "../../lib/local/engines/clients.ts";
import { BUSY_TIMEOUT_MS, type LocalWorld, START_TIMEOUT_MS, startLocalWorld } from "../support/local-world.ts";

vi.setConfig({ testTimeout: BUSY_TIMEOUT_MS });

/** How often the job of each schedule has run. */
const runs = new Map<string, number>();
let world: LocalWorld;
beforeAll(async () => {
  world = await startLocalWorld({
    "third-time": (_, { occurrence: { scheduleId } }) => {
      const run = (runs.get(scheduleId) ?? 0) + 1;
      runs.set(scheduleId, run);
      if (run < 3) throw new Error(`run ${run} fails`);
    },
  });
}, START_TIMEOUT_MS);
afterAll(() => world.close());

const once = (scheduleId: string, given: object = {}) =>
  world.scheduler.put([{ scheduleId, at: new Date().toISOString(), retry: { maxAttempts: 1 }, ...given }]);

/** The only run of a schedule, once it is in `status` with that token. */
const ended = (scheduleId: string, status: string, fencingToken: number): Promise<Occurrence> =>
  world.untilWritten(async () => {
    const [row] = await world.history(scheduleId);
    return row?.status === status && row.fencingToken === fencingToken ? row : undefined;
  });

async function punctual(...argv: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const { schedulesTable, occurrencesTable } = world.scheduler.settings;
  const to = ["--schedules-table", schedulesTable, "--occurrences-table", occurrencesTable, "--region", LOCAL_REGION];
  const [stdout, stderr]: [string[], string[]] = [[], []];
  vi.stubEnv("AWS_ACCESS_KEY_ID", LOCAL_CREDENTIALS.accessKeyId);
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", LOCAL_CREDENTIALS.secretAccessKey);
  const code = await main([...argv, ...to, "--endpoint-url", world.dynamodbEndpoint], {
    stdout: { write: (text) => stdout.push(text) },
    stderr: { write: (text) => stderr.push(text) },
    env: {},
    stdin: noInput(),
  });
  vi.unstubAllEnvs();
  return { code, stdout: stdout.join(""), stderr: stderr.join("") };
}

async function* noInput(): AsyncIterable<string> {}

/** Takes the next message out of the dead-letter queue. */
async function takeDeadLetter(): Promise<Message> {
  const QueueUrl = world.scheduler.settings.deadLetterQueueUrl;
  for (;;) {
    const { Messages: [message] = [] } = await world.sqs.send(
      new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 20, MessageAttributeNames: ["All"] }),
    );
    if (message === undefined) continue;
    await world.sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: message.ReceiptHandle }));
    return message;
  }
}

/** What SQS's own redrive to a custom destination does: the same body and attributes as a new message. */
let moved = 0;
async function redrive({ Body, MessageAttributes }: Message): Promise<void> {
  moved += 1;
  const id = `moved-${moved}`;
  const QueueUrl = world.scheduler.settings.queues["default"]?.url;
  await world.sqs.send(
    new SendMessageCommand({
      QueueUrl,
      MessageBody: Body,
      MessageAttributes,
      MessageGroupId: id,
      MessageDeduplicationId: id,
    }),
  );
}

it("a dead letter replayed right after its last send is delivered, and its message redriven later replays it once", async () => {
  await once("unlucky", { job: "third-time" });
  const first = await ended("unlucky", "DEAD_LETTERED", 1);
  expect(await punctual("dead-letter", "list")).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`unlucky@${first.firing}`),
  });
  // Well within the five minutes in which SQS swallows a deduplication id that it knows.
  expect(await punctual("dead-letter", "replay", "unlucky")).toMatchObject({
    code: 0,
    stdout: `replayed unlucky@${first.firing}\n`,
  });
  await ended("unlucky", "DEAD_LETTERED", 2);
  const letters = [await takeDeadLetter(), await takeDeadLetter()];
  expect(letters.map(({ MessageAttributes }) => MessageAttributes?.["fencingToken"]?.StringValue)).toEqual(["1", "2"]);

  // That of the first death is history: only the second one's is a replay.
  for (const letter of letters) await redrive(letter);
  const third = await ended("unlucky", "SUCCEEDED", 3);
  for (const letter of letters) await redrive(letter);
  // Something to wait for: what was sent before it is dealt with by then.
  await once("marker");
  await ended("marker", "SUCCEEDED", 1);
  expect(await world.history("unlucky")).toEqual([third]);
  expect(runs.get("unlucky")).toBe(3);
  expect((await punctual("dead-letter", "list")).stderr).toContain("there are no dead letters");
});
