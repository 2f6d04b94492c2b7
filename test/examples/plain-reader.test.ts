import { CreateQueueCommand } from "@aws-sdk/client-sqs";
import { expect, it, onTestFinished, vi } from "vitest";
import { createSqsClient } from "../../lib/adapters/sqs/client.ts";
import { createMessageQueue } from "../../lib/adapters/sqs/message-queue.ts";
import { deduplicationId } from "../../lib/core/ids.ts";
import { encodeMessage, messageOf } from "../../lib/core/message.ts";
import { LOCAL_CREDENTIALS, LOCAL_REGION } from "../../lib/local/engines/clients.ts";
import { startSqs } from "../../lib/local/engines/sqs.ts";
import { claimedRow } from "../support/transitions.ts";
import { readQueue } from "./plain-reader.ts";

/** A queue that gives a message out again at once, and what reads it. */
async function newQueue() {
  const engine = await startSqs();
  const sqs = createSqsClient({ endpoint: engine.endpoint, region: LOCAL_REGION, credentials: LOCAL_CREDENTIALS });
  onTestFinished(async () => {
    sqs.destroy();
    await engine.close();
  });
  const Attributes = { FifoQueue: "true", VisibilityTimeout: "0" };
  const { QueueUrl = "" } = await sqs.send(new CreateQueueCommand({ QueueName: "plain.fifo", Attributes }));
  const queue = createMessageQueue({ client: sqs, queues: { plain: QueueUrl }, deadLetterQueueUrl: QueueUrl });
  const send = async (...bodies: readonly (readonly [id: string, body: string])[]) => {
    const sent = await queue.send(bodies.map(([id, body]) => ({ queue: "plain", deduplicationId: id, body })));
    expect(sent).toEqual(bodies.map(() => ({ kind: "accepted" })));
  };
  return { sqs, queueUrl: QueueUrl, send };
}

const runOf = (scheduleId: string) => {
  const row = claimedRow({ scheduleId, payload: JSON.stringify({ from: scheduleId }) });
  return [deduplicationId(row.occurrenceId, row.fencingToken), encodeMessage(messageOf(row))] as const;
};

it("handles what the scheduler sent, and leaves alone what it cannot handle", async () => {
  const complaints = vi.spyOn(console, "error").mockImplementation(() => undefined);
  onTestFinished(() => complaints.mockRestore());
  const { sqs, queueUrl, send } = await newQueue();
  await send(runOf("a"), ["odd", '{"version":2}'], runOf("b"));
  const handled: unknown[] = [];
  let failures = 1;
  const handle = async ({ payload }: { payload: unknown }) => {
    if (JSON.stringify(payload).includes('"a"') && failures-- > 0) throw new Error("busy");
    handled.push(payload);
  };
  await readQueue(sqs, queueUrl, handle, 0);
  expect(handled).toEqual([{ from: "b" }]);
  await readQueue(sqs, queueUrl, handle, 0);
  expect(handled).toEqual([{ from: "b" }, { from: "a" }]);
  expect(complaints.mock.calls.map(([text, error]) => `${text}: ${error}`)).toEqual([
    expect.stringContaining("could not be handled: Error: busy"),
    expect.stringContaining("not a message of version 1"),
    expect.stringContaining("not a message of version 1"),
  ]);
  handled.length = 0;
  await readQueue(sqs, queueUrl, handle, 0);
  expect(handled).toEqual([]);
});
