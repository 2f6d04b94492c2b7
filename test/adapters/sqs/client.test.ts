import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { createSqsClient } from "../../../lib/adapters/sqs/client.ts";
import { createMessageQueue } from "../../../lib/adapters/sqs/message-queue.ts";

const LOOPBACK = "127.0.0.1";

describe("the SQS client, against a server that misbehaves", () => {
  const closing: (() => void)[] = [];
  afterEach(() => {
    for (const close of closing.splice(0)) close();
  });

  async function queueAt(listener: RequestListener) {
    const server = createServer(listener).listen(0, LOOPBACK);
    await once(server, "listening");
    const address = server.address();
    if (address === null || typeof address === "string") throw new TypeError("the server must have a port");
    const endpoint = `http://${LOOPBACK}:${address.port}`;
    const client = createSqsClient({
      endpoint,
      region: "eu-west-1",
      credentials: { accessKeyId: "local", secretAccessKey: "local" },
    });
    closing.push(() => {
      client.destroy();
      server.close();
      server.closeAllConnections();
    });
    const url = `${endpoint}/000000000000/emails.fifo`;
    return createMessageQueue({ client, queues: { emails: url }, deadLetterQueueUrl: url });
  }

  const message = { queue: "emails", deduplicationId: "a", body: "{}" };

  it("tries again once when the connection is reset, and then does not know", async () => {
    let requests = 0;
    const queue = await queueAt((request) => {
      requests += 1;
      request.socket.resetAndDestroy();
    });
    expect(await queue.send([message])).toMatchObject([{ kind: "unknown" }]);
    expect(requests).toBe(2);
  });

  it("takes a 5xx for an answer that says nothing, and a later 200 for the answer", async () => {
    let requests = 0;
    const queue = await queueAt((_, response) => {
      requests += 1;
      if (requests === 1) response.writeHead(503).end();
      else response.writeHead(200).end(JSON.stringify({ Successful: [{ Id: "0", MessageId: "m" }] }));
    });
    expect(await queue.send([message])).toEqual([{ kind: "accepted" }]);
  });

  it("understands SQS's throttling as it comes over the wire: a 403 in the older protocol's words", async () => {
    const queue = await queueAt((_, response) => {
      response
        .writeHead(403, { "x-amzn-query-error": "RequestThrottled;Sender" })
        .end(JSON.stringify({ __type: "com.amazonaws.sqs#RequestThrottled", message: "slow down" }));
    });
    expect(await queue.send([message])).toMatchObject([{ kind: "refused" }]);
  });

  it("understands a missing queue and missing rights as they come over the wire", async () => {
    for (const [status, type, query] of [
      [400, "com.amazonaws.sqs#QueueDoesNotExist", "AWS.SimpleQueueService.NonExistentQueue;Sender"],
      [403, "com.amazon.coral.service#AccessDeniedException", "AccessDenied;Sender"],
    ] as const) {
      const queue = await queueAt((_, response) => {
        response
          .writeHead(status, { "x-amzn-query-error": query })
          .end(JSON.stringify({ __type: type, message: "no" }));
      });
      expect(await queue.send([message])).toMatchObject([{ kind: "refused" }]);
    }
  });
});
