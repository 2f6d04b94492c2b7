import { DeleteMessageCommand, ReceiveMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";

/** The part of a message that this service needs. */
interface Run {
  readonly version: 1;
  readonly occurrenceId: string;
  readonly payload: unknown;
}

/** Handles what the queue has, at most ten messages; waits up to `waitSeconds` for the first. To be called in a loop. */
export async function readQueue(
  sqs: SQSClient,
  queueUrl: string,
  handle: (run: Run) => Promise<void>,
  waitSeconds = 20,
): Promise<void> {
  const receive = { QueueUrl: queueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: waitSeconds };
  const { Messages = [] } = await sqs.send(new ReceiveMessageCommand(receive));
  for (const { Body = "", ReceiptHandle, MessageId } of Messages)
    try {
      const run: unknown = JSON.parse(Body);
      if (!isRun(run)) throw new Error(`not a message of version 1: ${Body}`);
      await handle(run);
      // Only now: a crash before this brings the message again, under the same occurrenceId.
      await sqs.send(new DeleteMessageCommand({ QueueUrl: queueUrl, ReceiptHandle }));
    } catch (error) {
      // Its neighbours are handled all the same; this one comes again after the visibility timeout.
      console.error(`message ${MessageId} could not be handled`, error);
    }
}

const isRun = (value: unknown): value is Run =>
  typeof value === "object" &&
  value !== null &&
  "version" in value &&
  value.version === 1 &&
  "occurrenceId" in value &&
  typeof value.occurrenceId === "string" &&
  "payload" in value;
