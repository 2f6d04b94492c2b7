import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse, request as send } from "node:http";
import { text } from "node:stream/consumers";
import * as z from "zod";
import { LOOPBACK } from "../../../lib/local/engines/engine.ts";
import { Journal } from "./journal.ts";

/** A request of AWS's JSON protocols: its operation, out of `X-Amz-Target`, and its body. */
export interface ProxiedRequest {
  readonly operation: string;
  readonly body: unknown;
  /** The body as it was sent. */
  readonly text: string;
  /** When it arrived, by this process's clock shifted as the `Date` headers are. */
  readonly atMs: number;
}

/** An exchange that is over. `status` is missing where no answer went back. */
export interface Exchange extends ProxiedRequest {
  readonly status?: number;
}

/** An answer on its way back. */
export interface ProxiedAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** Plays a part in one exchange: it may forward the request, as it is or changed, and answer or lose the answer. */
export type Intercept = (
  request: ProxiedRequest,
  forward: (body?: unknown) => Promise<ProxiedAnswer>,
) => Promise<ProxiedAnswer | "lost">;

/** Which exchanges an intercept is for: an operation, and a text that the request's body holds. */
export interface Which {
  readonly operation: string;
  readonly mentions?: readonly string[];
}

/** One exchange that is being held up. */
export interface Held {
  /** Resolves when it has come to where it is held. */
  readonly reached: Promise<void>;
  /** Lets it go on. */
  release(): void;
}

/** A loopback proxy between a client and a stand-in of a service, through which tests do what networks and services do. */
export interface FaultProxy {
  readonly endpoint: string;
  /** Where requests go: a stand-in that was started again may listen elsewhere. */
  target: string;
  /** Added to the `Date` header of every answer: the service's clock, as far as its clients can see it. Whole seconds. */
  dateOffsetMs: number;
  readonly exchanges: Journal<Exchange>;
  /** Puts `intercept` in the way of the next `times` exchanges that are meant. */
  intercept(which: Which, intercept: Intercept, times?: number): void;
  /** Holds up the next exchange that is meant, before it is forwarded or before its answer goes back. */
  hold(which: Which, point: "request" | "answer"): Held;
  close(): Promise<void>;
}

const addresses = z.object({ port: z.number() });

/** Starts a proxy before `target` on a free port. */
export async function startFaultProxy(target: string): Promise<FaultProxy> {
  const exchanges = new Journal<Exchange>();
  const intercepts: { readonly which: Which; readonly intercept: Intercept; left: number }[] = [];
  const server = createServer((incoming, outgoing) => void serve(incoming, outgoing));
  server.listen(0, LOOPBACK);
  await once(server, "listening");

  const proxy: FaultProxy = {
    endpoint: `http://${LOOPBACK}:${addresses.parse(server.address()).port}`,
    target,
    dateOffsetMs: 0,
    exchanges,
    intercept: (which, intercept, times = 1) => void intercepts.push({ which, intercept, left: times }),
    hold: (which, point) => {
      const reached = deferred();
      const released = deferred();
      proxy.intercept(which, async (_, forward) => {
        const answer = point === "answer" ? await forward() : undefined;
        reached.resolve();
        await released.promise;
        return answer ?? forward();
      });
      return { reached: reached.promise, release: released.resolve };
    },
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };

  async function serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const sent = await text(incoming);
    const target = String(incoming.headers["x-amz-target"]);
    const request: ProxiedRequest = {
      operation: target.slice(target.lastIndexOf(".") + 1),
      body: JSON.parse(sent),
      text: sent,
      atMs: Date.now() + proxy.dateOffsetMs,
    };
    const forward = (body: unknown = request.body) => exchange(proxy.target, incoming, JSON.stringify(body));
    const next = intercepts.find(({ which, left }) => left > 0 && isMeant(which, request));
    if (next) next.left -= 1;
    // What fails between here and the service is an answer that never comes.
    const answer = await (next ? next.intercept(request, forward) : forward()).catch(() => "lost" as const);
    if (answer === "lost") outgoing.destroy();
    else reply(outgoing, answer, proxy.dateOffsetMs);
    exchanges.add({ ...request, ...(answer !== "lost" && { status: answer.status }) });
  }

  return proxy;
}

/** Whether `request` is one that is meant. */
export const isMeant = ({ operation, mentions = [] }: Which, request: ProxiedRequest): boolean =>
  operation === request.operation && mentions.every((word) => request.text.includes(word));

interface Forwarded extends ProxiedAnswer {
  readonly date: string | undefined;
}

/** Sends a request on, and answers with what the service says. */
async function exchange(target: string, incoming: IncomingMessage, body: string): Promise<Forwarded> {
  const { host: _, "content-length": __, connection: ___, ...headers } = incoming.headers;
  const outgoing = send(target, { method: "POST", path: incoming.url, headers, agent: false });
  outgoing.end(body);
  const [answer]: IncomingMessage[] = await once(outgoing, "response");
  if (answer === undefined) throw new Error(`${target} did not answer`);
  return { status: answer.statusCode ?? 0, body: JSON.parse(await text(answer)), date: answer.headers.date };
}

function reply(outgoing: ServerResponse, answer: ProxiedAnswer, dateOffsetMs: number): void {
  const dateMs = "date" in answer && typeof answer.date === "string" ? Date.parse(answer.date) : Date.now();
  outgoing.sendDate = false;
  outgoing.writeHead(answer.status, {
    "content-type": "application/x-amz-json-1.0",
    date: new Date(dateMs + dateOffsetMs).toUTCString(),
  });
  outgoing.end(JSON.stringify(answer.body));
}

function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
