import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
  QueueDoesNotExist,
  ReceiveMessageCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import { mockClient } from "aws-sdk-client-mock";
import { describe, expect, it } from "vitest";
import { createInbox } from "../../../lib/adapters/sqs/inbox.ts";

const url = "https://sqs.eu-west-1.amazonaws.com/123456789012/jobs.fifo";
const $metadata = {};

/** An inbox on an SQS that a test answers for. */
function world() {
  const client = new SQSClient({ region: "eu-west-1" });
  return { mock: mockClient(client), inbox: createInbox({ client, url }) };
}

const receiving = (more: { max?: number; signal?: AbortSignal } = {}) => ({
  max: 3,
  waitSeconds: 20,
  visibilitySeconds: 60,
  signal: new AbortController().signal,
  ...more,
});
const receipts = (count: number) => Array.from({ length: count }, (_, index) => `receipt-${index}`);

describe("a receive", () => {
  it("asks for as many as there is room for, hidden for so long, and for how often each was received", async () => {
    const { mock, inbox } = world();
    mock.on(ReceiveMessageCommand).resolves({
      Messages: [{ MessageId: "m", Body: "{}", ReceiptHandle: "r", Attributes: { ApproximateReceiveCount: "3" } }],
    });
    expect(await inbox.receive(receiving())).toEqual({
      kind: "received",
      messages: [{ id: "m", body: "{}", receipt: "r", receives: 3 }],
    });
    expect(mock.commandCalls(ReceiveMessageCommand)[0]?.args[0].input).toEqual({
      QueueUrl: url,
      MaxNumberOfMessages: 3,
      WaitTimeSeconds: 20,
      VisibilityTimeout: 60,
      MessageSystemAttributeNames: ["ApproximateReceiveCount"],
    });
  });

  it("asks for ten at most", async () => {
    const { mock, inbox } = world();
    mock.on(ReceiveMessageCommand).resolves({});
    await inbox.receive(receiving({ max: 40 }));
    expect(mock.commandCalls(ReceiveMessageCommand)[0]?.args[0].input).toMatchObject({ MaxNumberOfMessages: 10 });
  });

  it("that fails is an answer", async () => {
    const { mock, inbox } = world();
    mock.on(ReceiveMessageCommand).rejects(new QueueDoesNotExist({ message: "gone", $metadata }));
    expect(await inbox.receive(receiving())).toMatchObject({
      kind: "failed",
      error: { message: "nothing could be received: QueueDoesNotExist: gone" },
    });
  });

  it("that is aborted brought nothing", async () => {
    const { mock, inbox } = world();
    mock.on(ReceiveMessageCommand).rejects(new DOMException("aborted", "AbortError"));
    expect(await inbox.receive(receiving({ signal: AbortSignal.abort() }))).toEqual({ kind: "received", messages: [] });
  });

  it("goes only to FIFO queues", () => {
    const client = new SQSClient({ region: "eu-west-1" });
    expect(() => createInbox({ client, url: "https://sqs/1/jobs" })).toThrow(
      "queueUrl must end with .fifo, as FIFO queues' names do, got https://sqs/1/jobs",
    );
  });
});

describe("acknowledgements", () => {
  it("go out in tens, each under its place: equal receipts have different ids (F299)", async () => {
    const { mock, inbox } = world();
    mock.on(DeleteMessageBatchCommand).resolves({});
    const twelve = [...receipts(11), "receipt-0"];
    expect(await inbox.acknowledge(twelve)).toEqual(twelve.map(() => ({ kind: "done" })));
    const requests = mock.commandCalls(DeleteMessageBatchCommand).map(({ args }) => args[0].input);
    expect(requests.map(({ Entries = [] }) => Entries.length)).toEqual([10, 2]);
    expect(requests[1]).toEqual({
      QueueUrl: url,
      Entries: [
        { Id: "0", ReceiptHandle: "receipt-10" },
        { Id: "1", ReceiptHandle: "receipt-0" },
      ],
    });
  });

  it("that fail for some are answered for each", async () => {
    const { mock, inbox } = world();
    mock.on(DeleteMessageBatchCommand).resolves({
      Failed: [
        { Id: "1", Code: "InternalError", SenderFault: false, Message: "try again" },
        { Id: "3", Code: "ReceiptHandleIsInvalid", SenderFault: true },
      ],
    });
    const verdicts = await inbox.acknowledge(receipts(4));
    expect(verdicts.map(({ kind }) => kind)).toEqual(["done", "failed", "done", "stale"]);
    expect(verdicts[1]).toMatchObject({
      error: { message: "a message could not be removed: InternalError: try again" },
    });
  });

  it("that fail as a request fail for that request's messages", async () => {
    const { mock, inbox } = world();
    mock.on(DeleteMessageBatchCommand).callsFake(({ Entries }: { Entries: readonly unknown[] }) => {
      if (Entries.length === 10) throw new Error("socket hang up");
      return {};
    });
    const kinds = (await inbox.acknowledge(receipts(11))).map(({ kind }) => kind);
    expect(kinds).toEqual([...Array.from({ length: 10 }, () => "failed"), "done"]);
  });

  it("of nothing ask for nothing", async () => {
    const { mock, inbox } = world();
    expect(await inbox.acknowledge([])).toEqual([]);
    expect(mock.calls()).toHaveLength(0);
  });
});

describe("changes of visibility", () => {
  it("name each receipt and how long it is hidden; 0 hands back", async () => {
    const { mock, inbox } = world();
    mock.on(ChangeMessageVisibilityBatchCommand).resolves({});
    await inbox.hide(receipts(2), 0);
    expect(mock.commandCalls(ChangeMessageVisibilityBatchCommand)[0]?.args[0].input).toEqual({
      QueueUrl: url,
      Entries: [
        { Id: "0", ReceiptHandle: "receipt-0", VisibilityTimeout: 0 },
        { Id: "1", ReceiptHandle: "receipt-1", VisibilityTimeout: 0 },
      ],
    });
  });

  it("tell a throttled one, which may be tried again, from a message that is not in flight any more", async () => {
    const { mock, inbox } = world();
    mock.on(ChangeMessageVisibilityBatchCommand).resolves({
      Failed: [
        { Id: "0", Code: "AWS.SimpleQueueService.MessageNotInflight", SenderFault: true },
        { Id: "1", Code: "RequestThrottled", SenderFault: true },
      ],
    });
    expect((await inbox.hide(receipts(2), 30)).map(({ kind }) => kind)).toEqual(["stale", "failed"]);
  });
});
