import type { Host, Inbox, ReceiptVerdict } from "../../app/ports.ts";
import { SQS_BATCH_MAX } from "../sqs/limits.ts";
import type { HandleVerdict } from "./fifo-queue.ts";
import type { MemoryQueue } from "./queue.ts";

/** How often a receive that waits looks again. */
const LOOK_EVERY_MS = 1_000;

/** What {@link createMemoryInbox} needs: the queues, the name of the one to receive from, and time to wait in. */
export interface MemoryInboxOptions {
  readonly queues: MemoryQueue;
  readonly queue: string;
  readonly host: Pick<Host, "monotonicMs" | "sleep">;
}

/** The receiver's side of one of the queues in memory. */
export function createMemoryInbox({ queues, queue, host }: MemoryInboxOptions): Inbox {
  const each = (receipts: readonly string[], change: (receiptHandle: string) => HandleVerdict) =>
    receipts.map((receipt): ReceiptVerdict => ({ kind: change(receipt) }));
  return {
    receive: async ({ max, waitSeconds, visibilitySeconds, signal }) => {
      const until = host.monotonicMs() + waitSeconds * 1000;
      for (;;) {
        const request = { queue, max: Math.min(max, SQS_BATCH_MAX), visibilityMs: visibilitySeconds * 1000 };
        const messages = signal.aborted ? [] : queues.receive(request);
        const leftMs = until - host.monotonicMs();
        if (messages.length > 0 || leftMs <= 0 || signal.aborted)
          return {
            kind: "received",
            messages: messages.map(({ messageId, body, receiptHandle, receiveCount }) => ({
              id: messageId,
              body,
              receipt: receiptHandle,
              receives: receiveCount,
            })),
          };
        await host.sleep(Math.min(leftMs, LOOK_EVERY_MS), signal);
      }
    },
    acknowledge: async (receipts) => each(receipts, (receiptHandle) => queues.delete({ queue, receiptHandle })),
    hide: async (receipts, seconds) =>
      each(receipts, (receiptHandle) => {
        try {
          return queues.changeVisibility({ queue, receiptHandle, visibilityMs: seconds * 1000 });
        } catch (error) {
          // Past twelve hours from its receive, which SQS answers as a wrong receipt.
          if (error instanceof RangeError) return "stale";
          throw error;
        }
      }),
  };
}
