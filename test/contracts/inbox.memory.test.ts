import { createMemoryInbox } from "../../lib/adapters/memory/inbox.ts";
import { createMemoryQueue } from "../../lib/adapters/memory/queue.ts";
import { NOON } from "../support/occurrences.ts";
import { VirtualTime } from "../support/virtual-time.ts";
import { inboxContract } from "./inbox.contract.ts";

inboxContract("memory", async () => {
  const time = new VirtualTime(NOON);
  const queues = createMemoryQueue({ now: time.now, queues: { default: {} } });
  const inbox = createMemoryInbox({ queues, queue: "default", host: time.host });
  return {
    inbox: { ...inbox, receive: (request) => time.finish(inbox.receive(request)) },
    send: async (bodies) => {
      await queues.send(bodies.map((body) => ({ queue: "default", deduplicationId: body, body })));
    },
    pass: (ms) => time.pass(ms),
    close: async () => {},
  };
});
