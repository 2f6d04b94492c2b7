import { EventEmitter, once } from "node:events";
import {
  BatchRequestTooLong,
  InvalidMessageContents,
  QueueDoesNotExist,
  RequestThrottled,
  SendMessageBatchCommand,
  type SendMessageBatchCommandInput,
  type SendMessageBatchCommandOutput,
  SQSClient,
  SQSServiceException,
} from "@aws-sdk/client-sqs";
import { mockClient } from "aws-sdk-client-mock";
import { describe, expect, it } from "vitest";
import { createMessageQueue } from "../../../lib/adapters/sqs/message-queue.ts";
import { DEAD_LETTER_QUEUE, type OutgoingMessage } from "../../../lib/app/ports.ts";

const EMAILS = "https://sqs.eu-west-1.amazonaws.com/123456789012/emails.fifo";
const REPORTS = "https://sqs.eu-west-1.amazonaws.com/123456789012/reports.fifo";
const DEAD_LETTERS = "https://sqs.eu-west-1.amazonaws.com/123456789012/dead-letters.fifo";

type Answer = (input: SendMessageBatchCommandInput) => SendMessageBatchCommandOutput;

const $metadata = {};

/** SQS takes all of a request, but for the entries of the bodies in `failures`. */
const taking =
  (failures: Record<string, { Code: string; SenderFault: boolean; Message?: string }> = {}): Answer =>
  ({ Entries = [] }) => ({
    $metadata,
    Successful: Entries.filter(({ MessageBody = "" }) => !(MessageBody in failures)).map(({ Id }) => ({
      Id,
      MessageId: "m",
      MD5OfMessageBody: "",
    })),
    Failed: Entries.flatMap(({ Id, MessageBody = "" }) => {
      const failure = failures[MessageBody];
      return failure ? [{ Id, ...failure }] : [];
    }),
  });

const throwing =
  (error: Error): Answer =>
  () => {
    throw error;
  };

/** Queues whose SQS gives `answers` in turn, the last one ever after. */
function world(...answers: readonly Answer[]) {
  const client = new SQSClient({ region: "eu-west-1" });
  const mock = mockClient(client);
  const requests: SendMessageBatchCommandInput[] = [];
  mock.on(SendMessageBatchCommand).callsFake((input: SendMessageBatchCommandInput) => {
    requests.push(input);
    return (answers[requests.length - 1] ?? answers.at(-1) ?? taking())(input);
  });
  const queues = { emails: EMAILS, reports: REPORTS };
  return { queue: createMessageQueue({ client, queues, deadLetterQueueUrl: DEAD_LETTERS }), requests };
}

const messages = (count: number, queue = "emails"): OutgoingMessage[] =>
  Array.from({ length: count }, (_, index) => ({ queue, deduplicationId: `id-${index}`, body: String(index) }));

const kinds = (verdicts: readonly { kind: string }[]) => verdicts.map(({ kind }) => kind);
const lostAnswer = () => Object.assign(new Error("socket hang up"), { code: "ECONNRESET" });

describe("the requests to SQS", () => {
  it("carry the deduplication id as group too, and the index, never a user's text, as entry id", async () => {
    const { queue, requests } = world();
    await queue.send([
      { queue: "emails", deduplicationId: "occurrence:2", body: "{}", attributes: { reason: "worker-lost", none: "" } },
      { queue: "emails", deduplicationId: "other", body: "[]" },
    ]);
    expect(requests).toEqual([
      {
        QueueUrl: EMAILS,
        Entries: [
          {
            Id: "0",
            MessageBody: "{}",
            MessageGroupId: "occurrence:2",
            MessageDeduplicationId: "occurrence:2",
            MessageAttributes: { reason: { DataType: "String", StringValue: "worker-lost" } },
          },
          { Id: "1", MessageBody: "[]", MessageGroupId: "other", MessageDeduplicationId: "other" },
        ],
      },
    ]);
  });

  it("hold ten messages each, of one queue each", async () => {
    const { queue, requests } = world();
    await queue.send([...messages(23), ...messages(1, "reports"), ...messages(1, DEAD_LETTER_QUEUE)]);
    const sizes = requests.map(({ QueueUrl, Entries = [] }) => [QueueUrl, Entries.length]);
    expect(sizes).toHaveLength(5);
    expect(sizes).toEqual(
      expect.arrayContaining([
        [EMAILS, 10],
        [EMAILS, 10],
        [EMAILS, 3],
        [REPORTS, 1],
        [DEAD_LETTERS, 1],
      ]),
    );
  });

  it("hold 1 MiB at most", async () => {
    const { queue, requests } = world();
    const body = "é".repeat(262_144);
    await queue.send(["a", "b", "c"].map((deduplicationId) => ({ queue: "emails", deduplicationId, body })));
    expect(requests.map(({ Entries = [] }) => Entries.length)).toEqual([2, 1]);
  });

  it("go only to FIFO queues", () => {
    const options = { client: new SQSClient({ region: "eu-west-1" }), deadLetterQueueUrl: DEAD_LETTERS };
    expect(() => createMessageQueue({ ...options, queues: { emails: "https://sqs/1/emails" } })).toThrow(
      "the URL of queue emails must end with .fifo, as FIFO queues' names do, got https://sqs/1/emails",
    );
  });
});

describe("what becomes of each message", () => {
  it("is refusal for three of ten in the middle of a batch, and acceptance for the other seven", async () => {
    const busy = { Code: "InternalError", SenderFault: false, Message: "try again" };
    const { queue } = world(taking({ 3: busy, 4: busy, 7: busy }));
    const verdicts = await queue.send(messages(10));
    const refused = verdicts.flatMap(({ kind }, index) => (kind === "refused" ? [index] : []));
    expect(refused).toEqual([3, 4, 7]);
    expect(kinds(verdicts).filter((kind) => kind === "accepted")).toHaveLength(7);
    expect(verdicts[3]).toMatchObject({
      error: { message: "queue emails refused the message: InternalError: try again" },
    });
  });

  it("is rejection for what SQS calls the sender's fault", async () => {
    const { queue } = world(taking({ 1: { Code: "InvalidMessageContents", SenderFault: true, Message: "bad" } }));
    expect(await queue.send(messages(2))).toEqual([
      { kind: "accepted" },
      { kind: "rejected", error: { name: "InvalidMessageContents", message: "bad" } },
    ]);
  });

  it.each(["RequestThrottled", "ThrottlingException", "KMS.ThrottlingException", "OverLimit", "KmsDisabled"])(
    "is refusal for an entry with %s, although SQS calls that the sender's fault",
    async (Code) => {
      const { queue } = world(taking({ 0: { Code, SenderFault: true } }));
      expect(kinds(await queue.send(messages(2)))).toEqual(["refused", "accepted"]);
    },
  );

  it("is unknown for an entry that the answer does not mention", async () => {
    const { queue } = world(({ Entries = [] }) => taking()({ QueueUrl: "", Entries: Entries.slice(1) }));
    const verdicts = await queue.send(messages(3));
    expect(kinds(verdicts)).toEqual(["unknown", "accepted", "accepted"]);
  });

  it("is unknown for all of a batch whose answer was lost twice", async () => {
    const { queue, requests } = world(throwing(lostAnswer()));
    const [verdict] = await queue.send(messages(1));
    expect(verdict).toMatchObject({
      kind: "unknown",
      error: { message: "queue emails did not answer whether it took the message: Error: socket hang up" },
    });
    expect(requests).toHaveLength(2);
  });

  it("is acceptance where the second try is taken after a lost answer", async () => {
    const { queue, requests } = world(throwing(lostAnswer()), taking());
    expect(kinds(await queue.send(messages(2)))).toEqual(["accepted", "accepted"]);
    expect(requests[1]).toEqual(requests[0]);
  });

  it("stays unknown where the second try is refused after a lost answer: the first may have been taken", async () => {
    const throttled = throwing(new RequestThrottled({ message: "slow down", $metadata }));
    const wholeBatch = world(throwing(lostAnswer()), throttled);
    expect(kinds(await wholeBatch.queue.send(messages(2)))).toEqual(["unknown", "unknown"]);
    const oneEntry = world(throwing(lostAnswer()), taking({ 1: { Code: "InternalError", SenderFault: false } }));
    expect(kinds(await oneEntry.queue.send(messages(2)))).toEqual(["accepted", "unknown"]);
  });

  it("is unknown after a fault of the server, or an error that is not known", async () => {
    const fault = (name: string, $fault: "client" | "server") =>
      throwing(new SQSServiceException({ name, $fault, message: "oops", $metadata }));
    for (const answer of [fault("InternalFailure", "server"), fault("BrandNewError", "client")])
      expect(kinds(await world(answer).queue.send(messages(1)))).toEqual(["unknown"]);
  });

  it("is refusal, at once, for a batch that was throttled or that an operator's slip keeps out", async () => {
    const errors = [
      new RequestThrottled({ message: "slow down", $metadata }),
      new QueueDoesNotExist({ message: "no such queue", $metadata }),
      new SQSServiceException({ name: "AccessDenied", $fault: "client", message: "not allowed", $metadata }),
      new SQSServiceException({ name: "KmsAccessDenied", $fault: "client", message: "no key", $metadata }),
    ];
    for (const error of errors) {
      const { queue, requests } = world(throwing(error));
      const verdicts = await queue.send(messages(2));
      expect(kinds(verdicts)).toEqual(["refused", "refused"]);
      expect(verdicts[0]).toMatchObject({
        error: { message: `queue emails refused the request: ${error.name}: ${error.message}`, cause: error },
      });
      expect(requests).toHaveLength(1);
    }
  });
});

describe("a batch that fails as a whole for one message in it", () => {
  const poisoned =
    (error: Error): Answer =>
    (input) => {
      if (input.Entries?.some(({ MessageBody }) => MessageBody === "2")) throw error;
      return taking()(input);
    };

  it.each([
    new InvalidMessageContents({ message: "bad characters", $metadata }),
    new BatchRequestTooLong({ message: "too long", $metadata }),
  ])("rejects that one, and its neighbours go out singly ($name)", async (error) => {
    const { queue, requests } = world(poisoned(error));
    const verdicts = await queue.send(messages(5));
    expect(kinds(verdicts)).toEqual(["accepted", "accepted", "rejected", "accepted", "accepted"]);
    expect(verdicts[2]).toEqual({ kind: "rejected", error: { name: error.name, message: error.message } });
    expect(requests).toHaveLength(6);
  });
});

describe("a queue that takes nothing", () => {
  it("affects no other queue", async () => {
    const { queue } = world((input) => {
      if (input.QueueUrl === EMAILS) throw new QueueDoesNotExist({ message: "gone", $metadata });
      return taking()(input);
    });
    const verdicts = await queue.send([...messages(12), ...messages(12, "reports")]);
    expect(new Set(kinds(verdicts.slice(0, 12)))).toEqual(new Set(["refused"]));
    expect(new Set(kinds(verdicts.slice(12)))).toEqual(new Set(["accepted"]));
  });

  it("holds up no other queue's messages", async () => {
    const client = new SQSClient({ region: "eu-west-1" });
    const answers = new EventEmitter();
    const reportsAnswered = once(answers, "reports");
    mockClient(client)
      .on(SendMessageBatchCommand)
      .callsFake(async (input: SendMessageBatchCommandInput) => {
        if (input.QueueUrl === REPORTS) answers.emit("reports");
        else await reportsAnswered;
        return taking()(input);
      });
    const queues = { emails: EMAILS, reports: REPORTS };
    const queue = createMessageQueue({ client, queues, deadLetterQueueUrl: DEAD_LETTERS });
    const verdicts = await queue.send([...messages(200), ...messages(1, "reports")]);
    expect(new Set(kinds(verdicts))).toEqual(new Set(["accepted"]));
  });
});
