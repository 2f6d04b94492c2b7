import { lookup } from "node:dns/promises";
import * as z from "zod";
import { jsonValue } from "../../../core/validation.ts";
import { PermanentError, RetryableError } from "../../outcomes.ts";
import type { CheckedJob, JobContext } from "../../types.ts";
import { type AllowList, parseAllowList } from "./allow-list.ts";
import { type HttpAnswer, type HttpRequest, type Resolve, send } from "./request.ts";
import { retryAfterSeconds } from "./retry-after.ts";

/** How many redirects are followed. */
const REDIRECTS_MAX = 3;

/** Statuses after which the same request may succeed later, beside 5xx (RFC 9110, sections 15.5.9 and 15.6; RFC 8470; RFC 6585). */
const RETRYABLE_STATUSES: ReadonlySet<number> = new Set([408, 425, 429]);

/** Redirects that say to repeat the request as it is (RFC 9110, sections 15.4.8 and 15.4.9). */
const REPEATING_REDIRECTS: ReadonlySet<number> = new Set([307, 308]);

/** Redirects that say, or let clients decide, to go on with GET: followed where the request was one already. */
const GET_REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303]);

/** Headers that are not the payload's to set: the connection's own, and the run's identity. */
const RESERVED_HEADERS: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "idempotency-key",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;

const headerValue = z.string("must be text").regex(/^[\t -~\u0080-\u00FF]*$/, "must be a header's text");

const headersSchema = z.record(z.string(), headerValue, "must be an object").superRefine((headers, context) => {
  for (const name of Object.keys(headers)) {
    const report = (message: string) => context.addIssue({ code: "custom", path: [name], message });
    if (!HEADER_NAME.test(name)) report("must be a header name");
    if (RESERVED_HEADERS.has(name.toLowerCase())) report("must not be set: every request has its own");
  }
});

const payloadSchema = z.strictObject({
  url: z.url({ protocol: /^https?$/, error: "must be an http or https URL" }),
  method: z.enum(["POST", "PUT", "PATCH", "DELETE", "GET"], "must be POST, PUT, PATCH, DELETE or GET").default("POST"),
  headers: headersSchema.default({}),
  /** Sent as JSON. */
  body: jsonValue("must be a JSON value").optional(),
});

/** What the `http` job's payload says. */
export type HttpPayload = z.infer<typeof payloadSchema>;

/** What a deployment says about the `http` job. */
export interface HttpJobOptions {
  /** Which hosts and origins may be called; see {@link parseAllowList}. None by default. */
  readonly allow?: readonly string[];
  /** How names become addresses; the system's resolver by default. */
  readonly resolve?: Resolve;
  /** This host's clock in epoch milliseconds, against which a `Retry-After` date is read. */
  readonly nowMs?: () => number;
}

/**
 * The `http` job: calls a URL with the OccurrenceId as `Idempotency-Key`. 2xx is success and gives `{status}` as output; 408, 425,
 * 429, 5xx and a network that fails are retryable, no sooner than `Retry-After`; anything else is permanent. Throws `RangeError`
 * for an allow-list that cannot be read. Neither headers nor query are logged or told in errors: credentials may be in them.
 */
export function createHttpJob(options: HttpJobOptions = {}): CheckedJob<HttpPayload> {
  const { allow = [], resolve = (hostname) => lookup(hostname, { all: true }), nowMs = Date.now } = options;
  const allowList = parseAllowList(allow);
  return {
    schema: payloadSchema,
    handler: async (payload, context) => {
      const answer = await follow(requestOf(payload, context), { allowList, resolve, context });
      if (answer.status >= 200 && answer.status < 300) return { status: answer.status };
      throw failure(answer, nowMs());
    },
  };
}

interface Call {
  readonly allowList: AllowList;
  readonly resolve: Resolve;
  readonly context: JobContext;
}

type Unchecked = Omit<HttpRequest, "anyAddress">;

function requestOf({ url, method, headers, body }: HttpPayload, context: JobContext): Unchecked {
  const { occurrence, attempt, fencingToken, idempotencyKey } = context;
  const text = body === undefined ? undefined : JSON.stringify(body);
  return {
    url: new URL(url),
    method,
    headers: {
      ...(text !== undefined && { "content-type": "application/json" }),
      ...lowerCased(headers),
      "idempotency-key": idempotencyKey,
      "punctual-schedule-id": occurrence.scheduleId,
      "punctual-scheduled-for": occurrence.scheduledFor.toISOString(),
      "punctual-attempt": String(attempt),
      "punctual-fencing-token": String(fencingToken),
      "content-length": String(Buffer.byteLength(text ?? "")),
    },
    body: text,
  };
}

const lowerCased = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

async function follow(first: Unchecked, call: Call): Promise<HttpAnswer> {
  let request = first;
  for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects++) {
    const answer = await sendAllowed(request, call);
    const next = redirected(request, answer);
    if (!next) return answer;
    request = next;
  }
  throw new PermanentError(`payload.url must redirect at most ${REDIRECTS_MAX} times`);
}

async function sendAllowed(request: Unchecked, { allowList, resolve, context }: Call): Promise<HttpAnswer> {
  const permission = allowList(request.url);
  if (permission.kind === "denied") throw new PermanentError(`payload.url ${permission.reason}`);
  context.signal.throwIfAborted();
  const { origin, pathname } = request.url;
  try {
    const answer = await send({ ...request, anyAddress: permission.anyAddress }, resolve, context.signal);
    context.logger.info("Called", { method: request.method, origin, path: pathname, status: answer.status });
    return answer;
  } catch (error) {
    context.signal.throwIfAborted();
    if (error instanceof PermanentError) throw error;
    throw new RetryableError(`${request.method} ${origin} failed`, { cause: error });
  }
}

/** The request that a redirect asks for; `undefined` where it is none that may be followed. */
function redirected(request: Unchecked, { status, location }: HttpAnswer): Unchecked | undefined {
  const follows = REPEATING_REDIRECTS.has(status) || (request.method === "GET" && GET_REDIRECTS.has(status));
  if (!follows || location === undefined || !URL.canParse(location, request.url.href)) return undefined;
  const url = new URL(location, request.url);
  if (url.origin === request.url.origin) return { ...request, url };
  // What the payload said to one host is not for another: its headers may hold credentials.
  const kept = Object.entries(request.headers).filter(([name]) => /^(content-|idempotency-key$|punctual-)/.test(name));
  return { ...request, url, headers: Object.fromEntries(kept) };
}

function failure({ status, retryAfter, location }: HttpAnswer, nowMs: number): Error {
  if (status >= 500 || RETRYABLE_STATUSES.has(status)) {
    const seconds = retryAfterSeconds(retryAfter, nowMs);
    return new RetryableError(`the answer was ${status}`, seconds === undefined ? {} : { retryAfterSeconds: seconds });
  }
  const elsewhere =
    location === undefined ? "" : ": a redirect that cannot repeat the request; put its target into the schedule";
  return new PermanentError(`the answer was ${status}${elsewhere}`);
}
