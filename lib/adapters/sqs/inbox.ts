import {
  type BatchResultErrorEntry,
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
  type Message,
  ReceiveMessageCommand,
  type SQSClient,
} from "@aws-sdk/client-sqs";
import { mapBounded } from "../../app/bounded.ts";
import type { Inbox, InboxMessage, ReceiptVerdict } from "../../app/ports.ts";
import { PunctualError } from "../../core/errors.ts";
import { recordedError } from "../../core/recorded-error.ts";
import { chunked } from "../dynamodb/chunks.ts";
import { SQS_REQUEST_TIMEOUT_MS } from "./client.ts";
import { entryFault } from "./faults.ts";
import { SQS_BATCH_MAX } from "./limits.ts";

/** How many batches of receipts are under way at once. */
const LANES = 4;

/** SQS did not do what a receiver asked. `message` says what, and SQS's own error. */
class ReceiverError extends PunctualError {
  constructor(happened: string, cause?: Error) {
    super("Receive", happened, { cause });
  }
}

/** What {@link createInbox} needs: a client that sends once, and the queue's URL. */
export interface InboxOptions {
  readonly client: SQSClient;
  readonly url: string;
}

/** The receiver's side of a queue in SQS. Throws `RangeError` for a URL that is not a FIFO queue's. */
export function createInbox({ client, url: QueueUrl }: InboxOptions): Inbox {
  if (!QueueUrl.endsWith(".fifo"))
    throw new RangeError(`queueUrl must end with .fifo, as FIFO queues' names do, got ${QueueUrl}`);
  return {
    receive: async ({ max, waitSeconds, visibilitySeconds, signal }) => {
      const command = new ReceiveMessageCommand({
        QueueUrl,
        MaxNumberOfMessages: Math.min(max, SQS_BATCH_MAX),
        WaitTimeSeconds: waitSeconds,
        VisibilityTimeout: visibilitySeconds,
        MessageSystemAttributeNames: ["ApproximateReceiveCount"],
      });
      // A long poll is answered when its wait is over, and not before.
      const requestTimeout = waitSeconds * 1000 + SQS_REQUEST_TIMEOUT_MS;
      try {
        const { Messages = [] } = await client.send(command, { abortSignal: signal, requestTimeout });
        return { kind: "received", messages: Messages.map(received) };
      } catch (thrown) {
        if (signal.aborted) return { kind: "received", messages: [] };
        return { kind: "failed", error: failure("nothing could be received", thrown) };
      }
    },
    acknowledge: (receipts) =>
      inBatches(receipts, "a message could not be removed", (Entries) =>
        client.send(new DeleteMessageBatchCommand({ QueueUrl, Entries })),
      ),
    hide: (receipts, VisibilityTimeout) =>
      inBatches(receipts, "a message's visibility could not be changed", (Entries) =>
        client.send(
          new ChangeMessageVisibilityBatchCommand({
            QueueUrl,
            Entries: Entries.map((entry) => ({ ...entry, VisibilityTimeout })),
          }),
        ),
      ),
  };
}

const received = ({ MessageId = "", Body = "", ReceiptHandle = "", Attributes = {} }: Message): InboxMessage => ({
  id: MessageId,
  body: Body,
  receipt: ReceiptHandle,
  receives: Number(Attributes.ApproximateReceiveCount ?? 1),
});

interface Entry {
  readonly Id: string;
  readonly ReceiptHandle: string;
}

/** Sends receipts in tens, each under its place as entry id: ids must differ, and receipts need not. */
async function inBatches(
  receipts: readonly string[],
  what: string,
  send: (entries: Entry[]) => Promise<{ readonly Failed?: BatchResultErrorEntry[] | undefined }>,
): Promise<readonly ReceiptVerdict[]> {
  const verdicts = await mapBounded(chunked(receipts, SQS_BATCH_MAX), LANES, async (batch) => {
    try {
      const entries = batch.map((ReceiptHandle, index) => ({ Id: String(index), ReceiptHandle }));
      const { Failed = [] } = await send(entries);
      return entries.map(({ Id }) =>
        verdictOf(
          what,
          Failed.find((each) => each.Id === Id),
        ),
      );
    } catch (thrown) {
      const error = failure(what, thrown);
      return batch.map((): ReceiptVerdict => ({ kind: "failed", error }));
    }
  });
  return verdicts.flat();
}

/** What a receipt itself is wrong in is that it is good no more; anything else may be tried again. */
function verdictOf(what: string, failed: BatchResultErrorEntry | undefined): ReceiptVerdict {
  if (failed === undefined) return { kind: "done" };
  const { Code = "", Message = "", SenderFault = false } = failed;
  return entryFault(Code, SenderFault) === "message"
    ? { kind: "stale" }
    : { kind: "failed", error: new ReceiverError(`${what}: ${Code}: ${Message}`) };
}

function failure(what: string, thrown: unknown): ReceiverError {
  const { name, message } = recordedError(thrown);
  return new ReceiverError(`${what}: ${name}: ${message}`, thrown instanceof Error ? thrown : undefined);
}
