import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { GetItemCommand } from "@aws-sdk/client-dynamodb";
import { afterEach, describe, expect, it } from "vitest";
import { createDynamoDbClient, REQUEST_TIMEOUT_MS } from "../../../lib/adapters/dynamodb/client.ts";
import { createOccurrenceStore } from "../../../lib/adapters/dynamodb/occurrences.ts";
import { observeDates } from "../../../lib/adapters/dynamodb/response-dates.ts";
import { type ClockSample, createDynamoDbClock } from "../../../lib/adapters/dynamodb/store-clock.ts";
import { systemHost } from "../../../lib/runtime/system-host.ts";
import { anOccurrence } from "../../support/occurrences.ts";

const LOOPBACK = "127.0.0.1";
const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

async function clientAt(listener: RequestListener) {
  const server = createServer(listener).listen(0, LOOPBACK);
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new TypeError("the server must have a port");
  const client = createDynamoDbClient({
    endpoint: `http://${LOOPBACK}:${address.port}`,
    region: "eu-west-1",
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
  });
  closing.push(() => {
    client.destroy();
    server.close();
    server.closeAllConnections();
  });
  return client;
}

const storeAt = async (listener: RequestListener) => {
  const errors: string[] = [];
  const client = await clientAt(listener);
  const logger = { error: (message: string) => void errors.push(message) };
  return createOccurrenceStore({ client, schedulesTable: "Schedules", occurrencesTable: "Occurrences", logger });
};

const insert = async (listener: RequestListener) => {
  const [verdict] = await (await storeAt(listener)).insert([anOccurrence()]);
  return verdict?.kind;
};

const GET = new GetItemCommand({ TableName: "Occurrences", Key: { scheduleId: { S: "a" }, firing: { S: "b" } } });

describe("the DynamoDB client, against a server that misbehaves", () => {
  it("tries again once when the connection is reset, and then does not know", async () => {
    let requests = 0;
    const kind = await insert((request) => {
      requests += 1;
      request.socket.resetAndDestroy();
    });
    expect([kind, requests]).toEqual(["unknown", 2]);
  });

  it("does not know after a 5xx, and believes neither refusal nor throttling at the second try", async () => {
    let requests = 0;
    const answers = [
      { status: 500, body: { __type: "com.amazonaws.dynamodb.v20120810#InternalServerError" } },
      { status: 400, body: { __type: "com.amazonaws.dynamodb.v20120810#ThrottlingException" } },
    ] as const;
    const kind = await insert((_, response) => {
      const { status, body } = answers[requests % 2] ?? answers[0];
      requests += 1;
      response.writeHead(status, { "content-type": "application/x-amz-json-1.0" }).end(JSON.stringify(body));
    });
    expect([kind, requests]).toEqual(["unknown", 2]);
  });

  it(
    "waits no longer than its limit for an answer, twice",
    async () => {
      let requests = 0;
      const started = performance.now();
      const kind = await insert(() => {
        requests += 1;
      });
      expect([kind, requests]).toEqual(["unknown", 2]);
      expect(performance.now() - started).toBeGreaterThanOrEqual(2 * REQUEST_TIMEOUT_MS - 50);
    },
    10 * REQUEST_TIMEOUT_MS,
  );
});

describe("the dates of responses", () => {
  it("are seen on every response: successes, errors and those tried again", async () => {
    // Near this host's own time: the SDK takes a date that is minutes off for a skewed clock, and tries again.
    const dates = [1_000, 2_000, 3_000].map((aheadMs) => new Date(Date.now() + aheadMs).toUTCString());
    const statuses = [500, 200, 400];
    let requests = 0;
    const client = await clientAt((_, response) => {
      const body = { __type: "com.amazonaws.dynamodb.v20120810#ValidationException" };
      const [status = 200, date = ""] = [statuses[requests], dates[requests]];
      requests += 1;
      response.writeHead(status, { date, "content-type": "application/x-amz-json-1.0" });
      response.end(JSON.stringify(status === 400 ? body : {}));
    });
    const seen: ClockSample[] = [];
    observeDates(client, systemHost, (sample) => seen.push(sample));
    await client.send(GET);
    await expect(client.send(GET)).rejects.toThrow();
    expect(seen.map(({ dateMs }) => new Date(dateMs).toUTCString())).toEqual(dates);
    expect(seen.every(({ sentMs, receivedMs }) => sentMs <= receivedMs)).toBe(true);
  });

  it("are no samples where they are missing or no dates", async () => {
    const dates = [undefined, "yesterday"];
    const client = await clientAt((_, response) => {
      const date = dates.shift();
      response.sendDate = false;
      response.writeHead(200, { ...(date && { date }), "content-type": "application/x-amz-json-1.0" }).end("{}");
    });
    const seen: ClockSample[] = [];
    observeDates(client, systemHost, (sample) => seen.push(sample));
    await client.send(GET);
    await client.send(GET);
    expect(seen).toEqual([]);
  });

  it("make the store's clock: a server 20 s ahead is the time", async () => {
    const client = await clientAt((_, response) => {
      const date = new Date(Date.now() + 20_000).toUTCString();
      response.writeHead(200, { date, "content-type": "application/x-amz-json-1.0" }).end("{}");
    });
    const logger = { warn: () => {} };
    const clock = createDynamoDbClock({ client, occurrencesTable: "Occurrences", host: systemHost, logger });
    await clock.probe();
    const aheadMs = clock.now() - Date.now();
    expect(aheadMs).toBeLessThanOrEqual(20_000);
    expect(aheadMs).toBeGreaterThan(17_900);
  });
});
