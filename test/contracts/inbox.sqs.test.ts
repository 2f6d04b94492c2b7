import { setTimeout as sleep } from "node:timers/promises";
import { CreateQueueCommand } from "@aws-sdk/client-sqs";
import { createSqsClient } from "../../lib/adapters/sqs/client.ts";
import { createInbox } from "../../lib/adapters/sqs/inbox.ts";
import { createMessageQueue } from "../../lib/adapters/sqs/message-queue.ts";
import { LOCAL_CREDENTIALS, LOCAL_REGION } from "../../lib/local/engines/clients.ts";
import { startSqs } from "../../lib/local/engines/sqs.ts";
import { inboxContract } from "./inbox.contract.ts";

inboxContract("SQS, as the local stand-in plays it", async () => {
  const engine = await startSqs();
  const client = createSqsClient({ endpoint: engine.endpoint, region: LOCAL_REGION, credentials: LOCAL_CREDENTIALS });
  const create = new CreateQueueCommand({ QueueName: "inbox.fifo", Attributes: { FifoQueue: "true" } });
  const { QueueUrl: url = "" } = await client.send(create);
  const queue = createMessageQueue({ client, queues: { default: url }, deadLetterQueueUrl: url });
  return {
    inbox: createInbox({ client, url }),
    send: async (bodies) => {
      await queue.send(bodies.map((body) => ({ queue: "default", deduplicationId: body, body })));
    },
    // The stand-in's own clock must have gone past the visibility's end.
    pass: (ms) => sleep(ms + 200),
    close: async () => {
      client.destroy();
      await engine.close();
    },
  };
});
