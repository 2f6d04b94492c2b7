import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type RequestListener, type Server } from "node:http";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, it } from "vitest";
import { recordedError } from "../../../../lib/core/recorded-error.ts";
import { createHttpJob, type HttpJobOptions } from "../../../../lib/jobs/builtin/http/job.ts";
import { outcomeOf } from "../../../../lib/jobs/outcomes.ts";
import { parsePayload } from "../../../../lib/jobs/payload.ts";
import { OCCURRENCE_ID, testContext } from "../context.ts";

const LOOPBACK = "127.0.0.1";

interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

describe("the http job", () => {
  const servers: Server[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.close();
      server.closeAllConnections();
    }
  });

  /** A server on loopback, under a name that leads there: `origin` is what an allow-list would name. */
  async function serverAt(listener: RequestListener, host = "api.test") {
    const seen: Seen[] = [];
    const server = createServer(async (request, response) => {
      const { method, url, headers } = request;
      seen.push({ method, url, headers, body: await text(request) });
      listener(request, response);
    }).listen(0, LOOPBACK);
    servers.push(server);
    await once(server, "listening");
    const address = server.address();
    if (address === null || typeof address === "string") throw new TypeError("the server must have a port");
    return { origin: `http://${host}:${address.port}`, seen };
  }

  const answering = (status: number, headers: Record<string, string> = {}) =>
    serverAt((_, response) => response.writeHead(status, headers).end("{}"));

  const resolve = async () => [{ address: LOOPBACK, family: 4 }];

  async function run(payload: unknown, options: HttpJobOptions, context = testContext()) {
    const job = createHttpJob({ resolve, ...options });
    return { output: await job.handler(await parsePayload(job.schema, payload), context.context), ...context };
  }

  const thrownBy = async (payload: unknown, options: HttpJobOptions, context = testContext()): Promise<unknown> =>
    run(payload, options, context).then(
      () => expect.unreachable("the job must throw"),
      (error: unknown) => error,
    );

  it("posts the body as JSON with the OccurrenceId as Idempotency-Key", async () => {
    const { origin, seen } = await answering(201);
    const payload = { url: `${origin}/invoices?dry=1`, headers: { "X-Team": "billing" }, body: { to: "ada" } };
    expect((await run(payload, { allow: [origin] })).output).toEqual({ status: 201 });
    expect(seen).toHaveLength(1);
    expect(seen[0]).toMatchObject({
      method: "POST",
      url: "/invoices?dry=1",
      body: '{"to":"ada"}',
      headers: {
        "content-type": "application/json",
        "content-length": "12",
        "idempotency-key": OCCURRENCE_ID,
        "punctual-schedule-id": "hello",
        "punctual-scheduled-for": "2026-11-29T09:00:00.000Z",
        "punctual-attempt": "2",
        "punctual-fencing-token": "3",
        "x-team": "billing",
      },
    });
  });

  it("sends no body where there is none", async () => {
    const { origin, seen } = await answering(204);
    await run({ url: origin, method: "DELETE" }, { allow: [origin] });
    expect(seen[0]).toMatchObject({ method: "DELETE", body: "" });
    expect(seen[0]?.headers).not.toHaveProperty("content-type");
  });

  it("reads an answer to its end, but not for ever", async () => {
    const chunk = Buffer.alloc(65_536);
    const { origin } = await serverAt((_, response) => {
      const more = () => {
        while (response.write(chunk));
      };
      response.writeHead(200).on("drain", more);
      more();
    });
    expect((await run({ url: origin }, { allow: [origin] })).output).toEqual({ status: 200 });
  });

  it.each([408, 425, 429, 500, 502, 503, 504])("takes %i for retryable", async (status) => {
    const { origin } = await answering(status);
    const error = await thrownBy({ url: origin }, { allow: [origin] });
    expect(outcomeOf(error)).toEqual({ kind: "retryable" });
    expect(recordedError(error)).toEqual({ name: "RetryableError", message: `the answer was ${status}` });
  });

  it.each([
    ["90", 90],
    ["Sun, 29 Nov 2026 09:02:00 GMT", 120],
  ])("waits as long as Retry-After asks: %s", async (header, retryAfterSeconds) => {
    const { origin } = await answering(503, { "retry-after": header });
    const options = { allow: [origin], nowMs: () => Date.parse("2026-11-29T09:00:00.000Z") };
    expect(outcomeOf(await thrownBy({ url: origin }, options))).toEqual({ kind: "retryable", retryAfterSeconds });
  });

  it.each([400, 401, 403, 404, 409, 410, 422])("takes %i for permanent", async (status) => {
    const { origin } = await answering(status);
    const error = await thrownBy({ url: origin }, { allow: [origin] });
    expect(outcomeOf(error)).toEqual({ kind: "permanent" });
    expect(recordedError(error).message).toBe(`the answer was ${status}`);
  });

  it("takes a network that fails for retryable, and tells why without the query", async () => {
    const { origin } = await serverAt((request) => request.socket.resetAndDestroy());
    const error = await thrownBy({ url: `${origin}/hook?token=s3cret` }, { allow: [origin] });
    expect(outcomeOf(error)).toEqual({ kind: "retryable" });
    expect(recordedError(error).message).toMatch(
      new RegExp(`^POST ${origin} failed; caused by Error: .*(hang up|RESET)`),
    );
    expect(recordedError(error).message).not.toContain("s3cret");
  });

  it("fails for good where the server switches protocols, which nobody asked for", async () => {
    const { origin } = await serverAt(({ socket }) => {
      socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: chat\r\n\r\n");
    });
    const error = await thrownBy({ url: origin }, { allow: [origin] });
    expect(outcomeOf(error)).toEqual({ kind: "permanent" });
    expect(error).toMatchObject({ message: "the answer was 101" });
  });

  it("waits past what a server says before its answer", async () => {
    const { origin } = await serverAt((_, response) => {
      response.writeProcessing();
      response.writeEarlyHints({ link: "</a.css>; rel=preload" });
      response.writeHead(204).end();
    });
    expect((await run({ url: origin }, { allow: [origin] })).output).toEqual({ status: 204 });
  });

  it("takes an answer that breaks off for retryable", async () => {
    const { origin } = await serverAt((_, response) => {
      response.writeHead(200, { "content-length": "10" });
      response.write("12345", () => response.destroy());
    });
    expect(outcomeOf(await thrownBy({ url: origin }, { allow: [origin] }))).toEqual({ kind: "retryable" });
  });

  it("takes a name that cannot be found for retryable", async () => {
    const missing = async () => Promise.reject(new Error("getaddrinfo ENOTFOUND api.example.com"));
    const error = await thrownBy({ url: "https://api.example.com" }, { allow: ["api.example.com"], resolve: missing });
    expect(outcomeOf(error)).toEqual({ kind: "retryable" });
    expect(recordedError(error).message).toContain("ENOTFOUND");
  });

  it("stops with the reason of its signal", async () => {
    const controller = new AbortController();
    const reason = new Error("the deadline has passed");
    const { origin } = await serverAt(() => controller.abort(reason));
    expect(await thrownBy({ url: origin }, { allow: [origin] }, testContext(controller.signal))).toBe(reason);
    expect(await thrownBy({ url: origin }, { allow: [origin] }, testContext(AbortSignal.abort(reason)))).toBe(reason);
  });

  it("calls nothing that the deployment does not list", async () => {
    const { origin, seen } = await answering(200);
    for (const allow of [undefined, ["api.example.com"]]) {
      const error = await thrownBy({ url: origin }, allow ? { allow } : {});
      expect(outcomeOf(error)).toEqual({ kind: "permanent" });
      expect(recordedError(error).message).toBe(
        `payload.url must have a host on the deployment's allow-list (httpAllowedHosts), got ${origin}`,
      );
    }
    expect(seen).toEqual([]);
  });

  it("connects a listed host to public addresses only, whatever its name leads to", async () => {
    const options = { allow: ["api.example.com"] };
    for (const address of [LOOPBACK, "169.254.169.254", "10.0.0.1", "::1"]) {
      const lookup = async () => [{ address, family: address.includes(":") ? 6 : 4 }];
      const error = await thrownBy({ url: "https://api.example.com" }, { ...options, resolve: lookup });
      expect(outcomeOf(error)).toEqual({ kind: "permanent" });
      expect(recordedError(error).message).toBe(
        "payload.url must lead to a public address unless its origin is on the allow-list, got api.example.com",
      );
    }
  });

  it("connects where its own look-up led and nowhere else: a name that turns elsewhere meanwhile is not asked again", async () => {
    const answers = [LOOPBACK, "93.184.215.14"];
    const asked: string[] = [];
    const turning = async (name: string) => {
      asked.push(name);
      return [{ address: answers.shift() ?? LOOPBACK, family: 4 }];
    };
    const error = await thrownBy({ url: "https://api.example.com" }, { allow: ["api.example.com"], resolve: turning });
    expect(outcomeOf(error)).toEqual({ kind: "permanent" });
    expect(asked).toEqual(["api.example.com"]);
  });

  it("looks a name up for every connection, so that what was public before the redirect is checked again", async () => {
    const front = await serverAt(
      (_, response) => response.writeHead(307, { location: "https://api.example.com" }).end(),
      "front.test",
    );
    const asked: string[] = [];
    const lookup = async (name: string) => {
      asked.push(name);
      return [{ address: LOOPBACK, family: 4 }];
    };
    const allow = [front.origin, "api.example.com"];
    const error = await thrownBy({ url: front.origin }, { allow, resolve: lookup });
    expect(recordedError(error).message).toContain("must lead to a public address");
    expect(asked).toEqual(["front.test", "api.example.com"]);
  });

  describe("on a redirect", () => {
    const redirecting = (status: number, location: string) =>
      serverAt((_, response) => response.writeHead(status, { location }).end(), "front.test");

    it.each([307, 308])(
      "repeats the request at a listed place for %i, without what was meant for the first",
      async (status) => {
        const target = await answering(200);
        const front = await redirecting(status, `${target.origin}/new`);
        const headers = { authorization: "Bearer s3cret", "x-api-key": "s3cret" };
        await run({ url: front.origin, headers, body: 1 }, { allow: [front.origin, target.origin] });
        expect(target.seen[0]).toMatchObject({ method: "POST", url: "/new", body: "1" });
        expect(target.seen[0]?.headers).toMatchObject({ "idempotency-key": OCCURRENCE_ID, "content-length": "1" });
        expect(JSON.stringify(target.seen)).not.toContain("s3cret");
      },
    );

    it("goes nowhere that is not listed", async () => {
      const target = await answering(200);
      const front = await redirecting(308, target.origin);
      const error = await thrownBy({ url: front.origin }, { allow: [front.origin] });
      expect(outcomeOf(error)).toEqual({ kind: "permanent" });
      expect(recordedError(error).message).toContain("must have a host on the deployment's allow-list");
      expect(target.seen).toEqual([]);
    });

    it.each([301, 302, 303])("does not turn a POST into a GET for %i: it says so", async (status) => {
      const front = await redirecting(status, "/elsewhere");
      const error = await thrownBy({ url: front.origin }, { allow: [front.origin] });
      expect(outcomeOf(error)).toEqual({ kind: "permanent" });
      expect(recordedError(error).message).toBe(
        `the answer was ${status}: a redirect that cannot repeat the request; put its target into the schedule`,
      );
      expect(front.seen).toHaveLength(1);
    });

    it("follows a GET, headers and all, at the same origin", async () => {
      const { origin, seen } = await serverAt((request, response) =>
        request.url === "/" ? response.writeHead(302, { location: "/home" }).end() : response.writeHead(200).end(),
      );
      await run({ url: origin, method: "GET", headers: { "x-api-key": "k" } }, { allow: [origin] });
      expect(seen.map(({ url }) => url)).toEqual(["/", "/home"]);
      expect(seen[1]?.headers).toMatchObject({ "x-api-key": "k" });
    });

    it("ends after three of them", async () => {
      const { origin, seen } = await redirecting(307, "/again");
      const error = await thrownBy({ url: origin }, { allow: [origin] });
      expect(recordedError(error).message).toBe("payload.url must redirect at most 3 times");
      expect(seen).toHaveLength(4);
    });
  });

  it("logs neither headers nor query nor body", async () => {
    const { origin } = await answering(200);
    const payload = { url: `${origin}/hook?token=s3cret`, headers: { authorization: "s3cret" }, body: "s3cret" };
    const { lines } = await run(payload, { allow: [origin] });
    expect(lines).toEqual([{ message: "Called", fields: { method: "POST", origin, path: "/hook", status: 200 } }]);
  });

  it.each([
    [{}, "payload.url: must be an http or https URL"],
    [{ url: "file:///etc/passwd" }, "payload.url: must be an http or https URL"],
    [{ url: "https://a.example", method: "TRACE" }, "payload.method: must be POST, PUT, PATCH, DELETE or GET"],
    [
      { url: "https://a.example", headers: { Host: "b" } },
      "payload.headers.Host: must not be set: every request has its own",
    ],
    [
      { url: "https://a.example", headers: { "Idempotency-Key": "b" } },
      "payload.headers.Idempotency-Key: must not be set",
    ],
    [{ url: "https://a.example", headers: { "bad name": "b" } }, "payload.headers.bad name: must be a header name"],
    [{ url: "https://a.example", headers: { a: "b\r\nc: d" } }, "payload.headers.a: must be a header's text"],
    [{ url: "https://a.example", retries: 3 }, "retries"],
  ])("fails for good on the payload %j", async (payload, message) => {
    const error = await thrownBy(payload, {});
    expect(outcomeOf(error)).toEqual({ kind: "permanent" });
    expect(recordedError(error).message).toContain(message);
  });
});
