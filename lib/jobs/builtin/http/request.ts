import type { LookupAddress } from "node:dns";
import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { PermanentError } from "../../outcomes.ts";
import { isPublicAddress } from "./addresses.ts";

/** How much of an answer's body is read before the connection is cut; nothing of it is kept. */
const BODY_MAX_BYTES = 1_048_576;

/** Finds the addresses of a host. */
export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

/** One HTTP request, to be sent as it is. */
export interface HttpRequest {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** Connect wherever the name leads; otherwise to a public address only. */
  readonly anyAddress: boolean;
}

/** What a job decides on. */
export interface HttpAnswer {
  readonly status: number;
  readonly location: string | undefined;
  readonly retryAfter: string | undefined;
}

/**
 * Sends `request` once and follows nothing. The address is checked where it is connected to, so that a name cannot lead elsewhere
 * between check and call. Rejects with a {@link PermanentError} where no address is allowed, with the signal's reason once it
 * aborts, and with Node's own error when the network fails.
 */
export function send(request: HttpRequest, resolve: Resolve, signal: AbortSignal): Promise<HttpAnswer> {
  const { url, method, headers, body, anyAddress } = request;
  const literal = url.hostname.replace(/^\[|\]$/g, "");
  if (!anyAddress && isIP(literal) !== 0 && !isPublicAddress(literal)) return Promise.reject(notPublic(literal));
  return new Promise((fulfil, reject) => {
    const open = url.protocol === "https:" ? requestHttps : requestHttp;
    const lookup = lookupWith(resolve, anyAddress);
    // No agent: a kept connection would skip the look-up, and with it the check.
    const outgoing = open(url, { method, headers, lookup, signal, agent: false });
    const fail = (error: Error) => reject(signal.aborted ? signal.reason : error);
    const closed = () => fail(new Error("the connection closed before the answer was there"));
    outgoing.on("error", fail);
    outgoing.on("close", closed);
    // Nobody asked to switch protocols, and without a listener Node closes such a connection in silence.
    outgoing.on("upgrade", ({ statusCode: status = 0 }, socket) => {
      fulfil({ status, location: undefined, retryAfter: undefined });
      socket.destroy();
    });
    outgoing.on("response", (response) => {
      // The request may close while the last of its answer is still to be read.
      outgoing.off("close", closed);
      response.on("close", closed);
      const { statusCode: status = 0, headers: answered } = response;
      const answer = { status, location: answered.location, retryAfter: answered["retry-after"] };
      let bytes = 0;
      response.on("error", fail);
      response.on("data", (chunk: Buffer) => {
        bytes += chunk.byteLength;
        if (bytes <= BODY_MAX_BYTES) return;
        fulfil(answer);
        response.destroy();
      });
      response.on("end", () => fulfil(answer));
    });
    outgoing.end(body);
  });
}

const lookupWith =
  (resolve: Resolve, anyAddress: boolean): LookupFunction =>
  (hostname, options, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const allowed = addresses.filter(({ address }) => anyAddress || isPublicAddress(address));
        const [first] = allowed;
        if (!first) callback(notPublic(hostname), "");
        else if (options.all) callback(null, allowed);
        else callback(null, first.address, first.family);
      },
      (error: Error) => callback(error, ""),
    );
  };

const notPublic = (host: string): PermanentError =>
  new PermanentError(`payload.url must lead to a public address unless its origin is on the allow-list, got ${host}`);
