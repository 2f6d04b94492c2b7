import { createMemoryQueue } from "../../lib/adapters/memory/queue.ts";
import { instant } from "../../lib/core/instant.ts";
import { MAX_RECEIVES, messageQueueContract, VISIBILITY_MS } from "./message-queue.contract.ts";

messageQueueContract("memory", async () => {
  const queue = createMemoryQueue({
    now: () => instant(0),
    queues: { emails: {}, reports: {}, redriving: { maxReceiveCount: MAX_RECEIVES } },
  });
  return {
    queue,
    receive: async (name, max) => queue.receive({ queue: name, max, visibilityMs: VISIBILITY_MS }),
    delete: async (name, receiptHandle) => {
      queue.delete({ queue: name, receiptHandle });
    },
    release: async (name, receiptHandle) => {
      queue.changeVisibility({ queue: name, receiptHandle, visibilityMs: 0 });
    },
    close: async () => {},
  };
});
