import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { expect, it, onTestFinished } from "vitest";
import { plusMs } from "../../lib/core/instant.ts";
import { contextAt } from "../support/job-context.ts";
import { NOON } from "../support/occurrences.ts";
import { charge } from "./charge.ts";

const ORDER = { customer: "ann", cents: 500 };

/** A service on this machine; `answer` handles each request with its idempotency key. */
async function serve(answer: (key: string, response: ServerResponse) => void): Promise<string> {
  const keyOf = ({ headers }: IncomingMessage) => String(headers["idempotency-key"]);
  const server = createServer((request, response) => {
    request.resume().on("end", () => answer(keyOf(request), response));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new TypeError(`a TCP server has no port: ${address}`);
  return `http://127.0.0.1:${address.port}`;
}

it("charges once though the first answer is lost: the second attempt has the same key", async () => {
  const charged = new Map<string, number>();
  const url = await serve((key, response) => {
    if (charged.has(key)) return void response.end(JSON.stringify({ charge: charged.get(key) }));
    charged.set(key, charged.size + 1);
    response.destroy();
  });
  await expect(charge(url, ORDER, contextAt("dues", NOON, 1))).rejects.toThrow("fetch failed");
  expect(await charge(url, ORDER, contextAt("dues", NOON, 2))).toEqual({ charge: 1 });
  await expect(charge(url, ORDER, contextAt("dues", plusMs(NOON, 1_000), 1))).rejects.toThrow("fetch failed");
  expect(charged.size).toBe(2);
});

it.each([
  [503, "RetryableError"],
  [409, "RetryableError"],
  [402, "PermanentError"],
])("takes a %i for a %s", async (status, name) => {
  const url = await serve((_, response) => void response.writeHead(status).end("no"));
  await expect(charge(url, ORDER, contextAt("dues", NOON, 1))).rejects.toMatchObject({
    name,
    message: `${status}: no`,
  });
});
