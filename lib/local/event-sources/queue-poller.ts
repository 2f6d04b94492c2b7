import { DeleteMessageBatchCommand, ReceiveMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";
import type { SQSRecord } from "aws-lambda";
import { pause } from "../../runtime/pause.ts";
import { LOCAL_REGION } from "../engines/clients.ts";
import { type Running, run } from "../running.ts";
import type { QueueSource } from "../template/event-sources.ts";
import { failedItems } from "./batch-response.ts";
import type { Invocable } from "./lambda.ts";
import { toSqsRecord } from "./queue-event.ts";
import { POLL_RETRY_PAUSE_MS, type Report } from "./report.ts";

/** SQS API Reference, ReceiveMessage: at most ten messages. */
const RECEIVE_MAX = 10;

/** Short, since a stand-in may hand messages to a receive whose connection is gone; real pollers wait 20 s. */
const RECEIVE_WAIT_SECONDS = 2;

/**
 * Feeds a function from a queue as Lambda's event source mapping does: what the function processed is deleted, what failed becomes
 * visible again when the queue's visibility timeout ends, and a function that throws fails its whole batch.
 */
export const pollQueue = (
  source: QueueSource,
  target: Invocable,
  client: SQSClient,
  report: Report,
  signal: AbortSignal,
): Running =>
  run(signal, async (stopping) => {
    const inFlight = new Set<Promise<void>>();
    while (!stopping.aborted) {
      if (inFlight.size >= source.maxConcurrency) await Promise.race(inFlight);
      const records = await receive(source, client, report, stopping);
      if (records.length === 0) continue;
      const work = processBatch(source, target, client, report, records).finally(() => inFlight.delete(work));
      inFlight.add(work);
    }
    await Promise.all(inFlight);
  });

async function receive(
  { queue, batchSize }: QueueSource,
  client: SQSClient,
  report: Report,
  signal: AbortSignal,
): Promise<SQSRecord[]> {
  const command = new ReceiveMessageCommand({
    QueueUrl: queue.url,
    MaxNumberOfMessages: Math.min(batchSize, RECEIVE_MAX),
    WaitTimeSeconds: RECEIVE_WAIT_SECONDS,
    MessageSystemAttributeNames: ["All"],
    MessageAttributeNames: ["All"],
  });
  try {
    const { Messages = [] } = await client.send(command, { abortSignal: signal });
    return Messages.map((message) => toSqsRecord(message, queue, LOCAL_REGION));
  } catch (error) {
    if (signal.aborted) return [];
    report({ kind: "poll-failed", source: queue.name, error });
    await pause(POLL_RETRY_PAUSE_MS, signal);
    return [];
  }
}

async function processBatch(
  source: QueueSource,
  target: Invocable,
  client: SQSClient,
  report: Report,
  records: readonly SQSRecord[],
): Promise<void> {
  let answer: unknown;
  try {
    answer = await target.invoke({ Records: records });
  } catch (error) {
    report({ kind: "invocation-failed", functionName: target.definition.name, error });
    return;
  }
  const ids = records.map(({ messageId }) => messageId);
  const failed = source.reportsItemFailures ? failedItems(answer, ids) : new Set<string>();
  const processed = records.filter(({ messageId }) => !failed.has(messageId));
  if (processed.length === 0) return;
  const Entries = processed.map(({ receiptHandle }, index) => ({ Id: String(index), ReceiptHandle: receiptHandle }));
  try {
    await client.send(new DeleteMessageBatchCommand({ QueueUrl: source.queue.url, Entries }));
  } catch (error) {
    report({ kind: "poll-failed", source: source.queue.name, error });
  }
}
