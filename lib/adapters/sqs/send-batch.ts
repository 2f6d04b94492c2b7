import { SendMessageBatchCommand, type SendMessageBatchCommandOutput, type SQSClient } from "@aws-sdk/client-sqs";
import { mapBounded } from "../../app/bounded.ts";
import type { SendVerdict } from "../../app/ports.ts";
import { PunctualError } from "../../core/errors.ts";
import { recordedError } from "../../core/recorded-error.ts";
import { entryFault, type Fault, requestFault } from "./faults.ts";
import { SQS_BATCH_MAX } from "./limits.ts";
import type { Outgoing } from "./outgoing.ts";

/** How often a batch is sent whose answer was lost: SQS swallows what it took before (same deduplication ids). */
export const SEND_TRIES = 2;

/** SQS did not take a message, or did not say whether it did. `message` names the queue and SQS's own error. */
class SendError extends PunctualError {
  constructor(queue: string, happened: string, cause?: Error) {
    super("Send", `queue ${queue} ${happened}`, { cause });
  }
}

/** A queue and how to reach it. */
export interface Queue {
  readonly client: SQSClient;
  readonly name: string;
  readonly url: string;
}

/** A verdict, with the `index` of the {@link Outgoing} that it is about. */
export type Indexed = readonly [index: number, verdict: SendVerdict];

/** Sends `batch`, which must fit into one request; one verdict a message. Never throws. */
export async function sendBatch(queue: Queue, batch: readonly Outgoing[]): Promise<Indexed[]> {
  let lost: Error | undefined;
  for (let tries = 1; tries <= SEND_TRIES; tries++) {
    const answer = await attempt(queue, batch);
    if (answer.kind === "failed" && answer.fault === "doubt") {
      lost = answer.error;
      continue;
    }
    const verdicts = await verdictsOf(queue, batch, answer);
    return lost ? verdicts.map(([index, verdict]) => [index, afterDoubt(queue, verdict)]) : verdicts;
  }
  const error = new SendError(queue.name, `did not answer whether it took the message: ${told(lost)}`, lost);
  return batch.map(({ index }) => [index, { kind: "unknown", error }]);
}

type Answer =
  | { readonly kind: "answered"; readonly output: SendMessageBatchCommandOutput }
  | { readonly kind: "failed"; readonly fault: Fault; readonly error: Error };

async function attempt({ client, url }: Queue, batch: readonly Outgoing[]): Promise<Answer> {
  const Entries = batch.map(({ entry }, position) => ({ Id: String(position), ...entry }));
  try {
    return { kind: "answered", output: await client.send(new SendMessageBatchCommand({ QueueUrl: url, Entries })) };
  } catch (thrown) {
    const error = thrown instanceof Error ? thrown : new Error(recordedError(thrown).message);
    return { kind: "failed", fault: requestFault(error), error };
  }
}

async function verdictsOf(queue: Queue, batch: readonly Outgoing[], answer: Answer): Promise<Indexed[]> {
  if (answer.kind === "answered")
    return batch.map(({ index }, position) => [index, entryVerdict(queue, answer.output, String(position))]);
  if (answer.fault !== "message") {
    const error = new SendError(queue.name, `refused the request: ${told(answer.error)}`, answer.error);
    return batch.map(({ index }) => [index, { kind: "refused", error }]);
  }
  if (batch.length === 1)
    return batch.map(({ index }) => [index, { kind: "rejected", error: recordedError(answer.error) }]);
  // One message among them is wrong, and SQS does not say which: its neighbours must not go down with it.
  const singly = await mapBounded(batch, SQS_BATCH_MAX, (message) => sendBatch(queue, [message]));
  return singly.flat();
}

function entryVerdict(queue: Queue, output: SendMessageBatchCommandOutput, id: string): SendVerdict {
  if (output.Successful?.some(({ Id }) => Id === id)) return { kind: "accepted" };
  const failed = output.Failed?.find(({ Id }) => Id === id);
  if (!failed)
    return { kind: "unknown", error: new SendError(queue.name, "answered without a word about the message") };
  const { Code = "Unknown", Message = "(no message)", SenderFault = false } = failed;
  if (entryFault(Code, SenderFault) === "message")
    return { kind: "rejected", error: recordedError({ name: Code, message: Message }) };
  return { kind: "refused", error: new SendError(queue.name, `refused the message: ${Code}: ${Message}`) };
}

/**
 * A verdict that followed a try whose answer was lost: "no" now does not say that the first try was not taken. What SQS can
 * never take it did not take before either.
 */
const afterDoubt = (queue: Queue, verdict: SendVerdict): SendVerdict =>
  verdict.kind === "refused"
    ? {
        kind: "unknown",
        error: new SendError(queue.name, "refused a second try after the first one's answer was lost", verdict.error),
      }
    : verdict;

const told = (error: Error | undefined): string => (error ? `${error.name}: ${error.message}` : "no error was given");
