import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { DeleteMessageCommand, ReceiveMessageCommand, SendMessageCommand } from "@aws-sdk/client-sqs";
import { describe, expect, it } from "vitest";
import { itemFrom } from "../../../lib/adapters/dynamodb/attribute-value.ts";
import type { Occurrence } from "../../../lib/core/occurrence.ts";
import type { JobMap } from "../../../lib/jobs/types.ts";
import type { LocalWorld } from "../../support/local-world.ts";
import { cliWriter, hasAwsCli, sdkWriter, type TableWriter } from "../../support/table-writers.ts";

const awsCli = await hasAwsCli();

/** Jobs that throw what is no error, beside which the tests need the stock ones. */
export const throwingJobs: JobMap = {
  "throws-text": () => {
    throw "plain text";
  },
  "throws-object": () => {
    throw { code: 7 };
  },
  "throws-nothing": () => {
    throw undefined;
  },
};

/** A one-shot that is due at once; answers its row when it has ended as `status`. */
async function runOnce(
  world: LocalWorld,
  scheduleId: string,
  more: Record<string, unknown>,
  status: Occurrence["status"],
) {
  const at = new Date(Date.now() + 500).toISOString();
  await put(world, itemFrom({ scheduleId, at, ...more }));
  return world.untilWritten(async () => (await world.history(scheduleId)).find((row) => row.status === status));
}

const put = ({ dynamodb, scheduler }: LocalWorld, item: Record<string, AttributeValue>) =>
  sdkWriter(dynamodb, scheduler.settings.schedulesTable).put(item);

const WRITERS: readonly {
  readonly how: string;
  readonly id: string;
  readonly available: boolean;
  readonly writerIn: (world: LocalWorld) => TableWriter;
}[] = [
  {
    how: "the SDK's raw commands",
    id: "sdk",
    available: true,
    writerIn: ({ dynamodb, scheduler }) => sdkWriter(dynamodb, scheduler.settings.schedulesTable),
  },
  {
    how: "the AWS CLI",
    id: "cli",
    available: awsCli,
    writerIn: ({ dynamodbEndpoint, scheduler }) => cliWriter(dynamodbEndpoint, scheduler.settings.schedulesTable),
  },
];

/** What becomes of items, messages and jobs as a stranger may write them. */
export function rawItems(world: () => LocalWorld): void {
  describe.concurrent.each(WRITERS)("an item written with $how", ({ id, available, writerIn }) => {
    it.skipIf(!available)(
      "fires with an id and a rate and nothing else, at the first instant of its rate",
      async () => {
        const putMs = Date.now();
        await writerIn(world()).put({ scheduleId: { S: `hello-${id}` }, rate: { S: "5 seconds" } });
        const writtenMs = Date.now();
        const [first] = await world().untilWritten(async () => {
          const rows = await world().history(`hello-${id}`);
          return rows.some(({ status }) => status === "SUCCEEDED") ? rows : undefined;
        });
        expect(Number(first?.scheduledFor) % 5_000).toBe(0);
        // The stream dates a record to the second or later than it was written, never later than it was read.
        expect(first?.scheduledFor).toBeGreaterThan(putMs - 2_000);
        expect(first?.scheduledFor).toBeLessThanOrEqual(writtenMs + 5_000);
        await writerIn(world()).remove(`hello-${id}`);
      },
    );

    it.skipIf(!available)("follows an edit from its next firing on, and stops when it is deleted", async () => {
      const scheduleId = `edited-${id}`;
      const ran = async (afterMs: number, everyMs: number) => {
        const rows = await world().history(scheduleId);
        return rows.filter(
          ({ status, scheduledFor }) =>
            status === "SUCCEEDED" && scheduledFor > afterMs && Number(scheduledFor) % everyMs === 0,
        );
      };
      await writerIn(world()).put({ scheduleId: { S: scheduleId }, rate: { S: "1 second" } });
      await world().untilWritten(async () => ((await ran(0, 1_000)).length > 0 ? true : undefined));

      await writerIn(world()).setRate(scheduleId, "3 seconds");
      const editedMs = Date.now();
      await world().untilWritten(async () => ((await ran(editedMs, 3_000)).length > 0 ? true : undefined));
      await writerIn(world()).remove(scheduleId);
      const deletedMs = Date.now();
      // Something to wait for: by the time it has run, nothing of the deleted one may run any more.
      await runOnce(world(), `marker-${id}`, { at: new Date(deletedMs + 4_000).toISOString() }, "SUCCEEDED");
      const rows = await world().history(scheduleId);
      const ranByOldRate = rows.filter(
        ({ status, scheduledFor }) =>
          status !== "SKIPPED" && scheduledFor > editedMs && Number(scheduledFor) % 3_000 !== 0,
      );
      expect(ranByOldRate).toEqual([]);
      expect(rows.filter(({ scheduledFor, status }) => scheduledFor > deletedMs && status !== "SKIPPED")).toEqual([]);
      expect(rows.every(({ dueAt }) => dueAt === undefined)).toBe(true);
    });
  });

  describe.concurrent("an item that is wrong", () => {
    const hourly = { rate: { S: "1 hour" } };
    it.each<[string, Record<string, AttributeValue>, string]>([
      [
        "a minute that no clock shows",
        { cron: { S: "61 * * * *" } },
        'cron: minute must be 0-59, *, a-b, */step, a/step, H, or a list of these, got "61"',
      ],
      [
        "a cron with a field missing",
        { cron: { S: "0 9 * *" } },
        'cron: must have 5 fields (minute hour day-of-month month day-of-week), or 6 with the second first, got 4 in "0 9 * *"',
      ],
      ["a rate that is a number", { rate: { N: "5" } }, "rate: must be text, for example '5 minutes', got 5"],
      ["a cron that is a list", { cron: { L: [{ S: "0 9 * * *" }] } }, 'cron: must be text, got ["0 9 * * *"]'],
      ["a switch that is text", { ...hourly, enabled: { S: "yes" } }, 'enabled: must be true or false, got "yes"'],
      [
        "attempts that are text",
        { ...hourly, retry: { M: { maxAttempts: { S: "three" } } } },
        'retry.maxAttempts: must be a whole number from 1 to 100, got "three"',
      ],
      [
        "both a cron and a rate",
        { ...hourly, cron: { S: "0 9 * * *" } },
        "exactly one of cron, rate and at must be given, got cron and rate",
      ],
      ["nothing that says when", {}, "exactly one of cron, rate and at must be given, got none"],
      [
        "a time zone that is none",
        { cron: { S: "0 9 * * *" }, timezone: { S: "Europe/Berln" } },
        'timezone: must be an IANA time zone name such as Europe/Berlin, UTC or Etc/GMT-5, got "Europe/Berln"; the nearest names are Europe/Berlin',
      ],
      [
        "a payload beyond 32 KB",
        { ...hourly, payload: { S: "x".repeat(40_000) } },
        "payload: must be at most 32768 bytes of JSON, got 40002; keep larger data in S3 and put its key here",
      ],
      [
        "a queue that the deployment has not",
        { ...hourly, queue: { S: "nowhere" } },
        'queue: must be a queue of this deployment (default), got "nowhere"',
      ],
    ])("with %s fires nothing, and its status says what would be right", async (what, attributes, problem) => {
      const scheduleId = `wrong-${what.replaceAll(/[^a-z0-9]+/g, "-")}`;
      await put(world(), { scheduleId: { S: scheduleId }, ...attributes });
      const status = await world().untilWritten(async () => (await world().item(scheduleId))?.["status"]);
      expect(status).toMatchObject({ state: "INVALID", problem: expect.stringContaining(problem) });
      expect(await world().history(scheduleId)).toEqual([]);
    });

    it("disturbs no other", async () => {
      await put(world(), { scheduleId: { S: "wrong-neighbour" }, cron: { S: "nonsense" } });
      await runOnce(world(), "right-neighbour", {}, "SUCCEEDED");
    });
  });

  describe.concurrent("a job", () => {
    it("that the consumer does not know fails at once, and the error names those it knows", async () => {
      const row = await runOnce(world(), "unknown-job", { job: "send-invoice" }, "FAILED");
      expect(row).toMatchObject({ attempts: 1, deadLetterReason: "permanent-error" });
      expect(row.lastError?.message).toBe(
        `job must be one of this consumer's (log, http, event, lambda, default, throws-text, throws-object, throws-nothing), got "send-invoice"`,
      );
    });

    it.each([
      ["throws-text", "plain text"],
      ["throws-object", '{"code":7}'],
      ["throws-nothing", "undefined was thrown"],
    ])("that %s is retried like any other, and what it threw is recorded as text", async (job, message) => {
      const retry = { maxAttempts: 2, baseDelaySeconds: 0 };
      const row = await runOnce(world(), job, { job, retry }, "DEAD_LETTERED");
      expect(row).toMatchObject({ attempts: 2, deadLetterReason: "attempts-exhausted" });
      expect(row.log.map(({ error }) => error)).toEqual([1, 2].map(() => ({ name: "NonError", message })));
    });
  });

  describe("a message that nobody can read", () => {
    it("is set aside in the dead-letter queue, once, with the reason", async () => {
      const { queues, deadLetterQueueUrl } = world().scheduler.settings;
      const found: { readonly body: string; readonly problem: string }[] = [];
      const sendAndFind = async (MessageBody: string) => {
        const name = `stranger-${found.length}`;
        const MessageGroupId = name;
        const message = { QueueUrl: queues["default"]?.url, MessageBody, MessageGroupId, MessageDeduplicationId: name };
        await world().sqs.send(new SendMessageCommand(message));
        while (!found.some(({ body }) => body === MessageBody))
          found.push(...(await takeMalformed(world(), deadLetterQueueUrl)));
      };
      const bodies = ["not JSON", JSON.stringify({ version: 1, scheduleId: "half" }), "the last"];
      // By the time that the last has been set aside, one that is set aside twice would have come twice.
      for (const body of bodies) await sendAndFind(body);
      expect(found.map(({ body }) => body)).toEqual(bodies);
      expect(found[0]?.problem).toContain("must be JSON");
      expect(found[1]?.problem).toContain("occurrenceId: must be");
    });
  });
}

/** Takes what lies in the dead-letter queue, or comes within SQS's longest wait; other tests' dead letters are left out. */
async function takeMalformed({ sqs }: LocalWorld, QueueUrl: string) {
  const { Messages = [] } = await sqs.send(
    new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 20, MessageAttributeNames: ["All"] }),
  );
  for (const { ReceiptHandle } of Messages) await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
  return Messages.flatMap(({ Body = "", MessageAttributes = {} }) =>
    MessageAttributes["reason"]?.StringValue === "malformed-message"
      ? [{ body: Body, problem: MessageAttributes["errorMessage"]?.StringValue ?? "" }]
      : [],
  );
}
