import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import * as z from "zod";
import { errorMessage } from "../../core/errors.ts";
import { type Engine, LOOPBACK } from "./engine.ts";

/** One event that was put on a bus; times and unknown fields are left out. */
export interface BusEvent {
  readonly bus: string;
  readonly source: string;
  readonly detailType: string;
  readonly detail: unknown;
}

/** EventBridge API Reference, PutEvents: an entry names its bus, source, detail type and detail (a JSON text). */
const putEvents = z.object({
  Entries: z.array(
    z.object({
      EventBusName: z.string().default("default"),
      Source: z.string(),
      DetailType: z.string(),
      Detail: z.string().transform((detail): unknown => JSON.parse(detail)),
    }),
  ),
});

/** The one operation that is imitated (`X-Amz-Target` of EventBridge's JSON 1.1 protocol). */
const PUT_EVENTS_TARGET = "AWSEvents.PutEvents";

/** Starts a stand-in for EventBridge's PutEvents on a free loopback port: it accepts every event and hands it to `onEvent`. */
export async function startEventBridge(onEvent: (event: BusEvent) => void): Promise<Engine> {
  const server = createServer((request, response) => {
    void answer(request, onEvent).then(
      (body) => reply(response, 200, body),
      (error: unknown) => reply(response, 400, { __type: "ValidationException", message: errorMessage(error) }),
    );
  });
  server.listen(0, LOOPBACK);
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new TypeError(`an HTTP server has no port: ${address}`);
  const closed = once(server, "close");
  return {
    endpoint: `http://${LOOPBACK}:${address.port}`,
    description: "EventBridge stand-in (PutEvents, in this process)",
    close: async () => {
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function answer(request: IncomingMessage, onEvent: (event: BusEvent) => void): Promise<unknown> {
  const target = request.headers["x-amz-target"];
  if (target !== PUT_EVENTS_TARGET) throw new Error(`operation must be ${PUT_EVENTS_TARGET}, got ${target}`);
  const { Entries } = putEvents.parse(JSON.parse(await text(request)));
  for (const { EventBusName, Source, DetailType, Detail } of Entries)
    onEvent({ bus: EventBusName, source: Source, detailType: DetailType, detail: Detail });
  return { FailedEntryCount: 0, Entries: Entries.map(() => ({ EventId: randomUUID() })) };
}

function reply(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/x-amz-json-1.1" }).end(JSON.stringify(body));
}
