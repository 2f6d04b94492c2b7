import { once } from "node:events";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { describe, expect, it, onTestFinished } from "vitest";
import { createFunctionInvoker, loadLambda } from "../../../lib/adapters/lambda/invoker.ts";

const FUNCTION = "arn:aws:lambda:eu-west-1:123456789012:function:bill";

interface Seen {
  readonly url: string | undefined;
  readonly context: unknown;
  readonly body: string;
}

/** A stand-in for Lambda that answers every call so; `undefined`: not at all. */
async function lambda(answer?: { status?: number; headers?: Record<string, string>; body: string }) {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    const context = String(request.headers["x-amz-client-context"]);
    const body = await text(request);
    seen.push({ url: request.url, context: JSON.parse(Buffer.from(context, "base64").toString()), body });
    if (answer) response.writeHead(answer.status ?? 200, answer.headers).end(answer.body);
    server.emit("seen");
  }).listen(0, "127.0.0.1");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new TypeError("the server must have a port");
  const endpoint = `http://127.0.0.1:${address.port}`;
  const credentials = { accessKeyId: "a", secretAccessKey: "b" };
  const invoker = createFunctionInvoker(() => loadLambda({ endpoint, region: "eu-west-1", credentials }));
  const invoke = (signal = new AbortController().signal) =>
    invoker.invoke({ functionArn: FUNCTION, payload: '{"to":"ada"}', custom: { occurrenceId: "id" }, signal });
  return { invoke, seen, server };
}

const refusal = (type: string, status: number, headers: Record<string, string> = {}) => ({
  status,
  headers: { "x-amzn-errortype": type, ...headers },
  body: JSON.stringify({ message: "no" }),
});

describe("an invocation", () => {
  it("hands over payload and client context, and answers with what the function returned", async () => {
    const { invoke, seen } = await lambda({ body: '{"paid":true}' });
    expect(await invoke()).toEqual({ kind: "returned", value: { paid: true } });
    expect(seen).toEqual([
      {
        url: `/2015-03-31/functions/${encodeURIComponent(FUNCTION)}/invocations`,
        context: { custom: { occurrenceId: "id" } },
        body: '{"to":"ada"}',
      },
    ]);
  });

  it.each([
    ["", undefined],
    ["plain", "plain"],
  ])("answers %j, which is no JSON, as it is", async (body, value) => {
    const { invoke } = await lambda({ body });
    expect(await invoke()).toEqual({ kind: "returned", value });
  });

  it("tells a function's own failure", async () => {
    const body = JSON.stringify({ errorType: "TypeError", errorMessage: "no amount", trace: [] });
    const { invoke } = await lambda({ headers: { "x-amz-function-error": "Unhandled" }, body });
    expect(await invoke()).toEqual({ kind: "failed", error: { name: "TypeError", message: "no amount" } });
  });

  it.each([
    ["ResourceNotFoundException", 404],
    ["InvalidRequestContentException", 400],
    ["RequestTooLargeException", 413],
  ])("takes %s for what the same call always meets", async (type, status) => {
    const { invoke, seen } = await lambda(refusal(type, status));
    expect(await invoke()).toMatchObject({ kind: "refused", permanent: true, error: { name: type } });
    expect(seen).toHaveLength(1);
  });

  it.each([
    ["ServiceException", 500],
    ["GatewayTimeout", 504],
  ])("takes %s for no answer: the function may have run", async (type, status) => {
    const { invoke, seen } = await lambda(refusal(type, status));
    expect(await invoke()).toMatchObject({ kind: "unanswered" });
    expect(seen).toHaveLength(1);
  });

  it("takes a connection that breaks for no answer", async () => {
    const { invoke, server } = await lambda();
    const answer = invoke();
    await once(server, "seen");
    server.closeAllConnections();
    expect(await answer).toMatchObject({ kind: "unanswered", error: { message: expect.stringContaining("hang up") } });
  });

  it("loads the SDK anew after it could not be loaded", async () => {
    const { client, sdk } = await loadLambda({ region: "eu-west-1" });
    let loads = 0;
    const invoker = createFunctionInvoker(async () => {
      loads += 1;
      if (loads === 1) throw new Error("no such module");
      return { client: { ...client, send: async () => ({ $metadata: {} }) }, sdk };
    });
    const call = { functionArn: FUNCTION, payload: "{}", custom: {}, signal: new AbortController().signal };
    expect(await invoker.invoke(call)).toMatchObject({ kind: "refused", permanent: false });
    expect(await invoker.invoke(call)).toEqual({ kind: "returned", value: undefined });
    expect(loads).toBe(2);
  });

  it.each([
    ["AccessDeniedException", 403],
    ["EC2ThrottledException", 502],
  ])("takes %s for what may pass, and does not try again by itself", async (type, status) => {
    const { invoke, seen } = await lambda(refusal(type, status));
    expect(await invoke()).toMatchObject({ kind: "refused", permanent: false });
    expect(seen).toHaveLength(1);
  });

  it("waits after a throttle as long as Lambda asks", async () => {
    const { invoke } = await lambda(refusal("TooManyRequestsException", 429, { "retry-after": "9" }));
    expect(await invoke()).toMatchObject({ kind: "refused", permanent: false, retryAfterSeconds: 9 });
  });

  it("ends with its signal, however long the function takes", async () => {
    const { invoke, server } = await lambda();
    const controller = new AbortController();
    const answer = invoke(controller.signal);
    await once(server, "seen");
    controller.abort();
    expect(await answer).toMatchObject({ kind: "unanswered", error: { name: "AbortError" } });
  });
});
