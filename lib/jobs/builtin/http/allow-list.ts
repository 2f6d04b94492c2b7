/** Whether a URL may be called, and whether at any address or only at a public one. */
type Permission =
  | { readonly kind: "allowed"; readonly anyAddress: boolean }
  | { readonly kind: "denied"; readonly reason: string };

/** Says of a URL whether the deployment lets jobs call it. */
export type AllowList = (url: URL) => Permission;

/** A host name, or `*.` and one: lower case, as URLs spell it. */
const HOST = /^(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)+$/;

/**
 * Reads a deployment's allow-list. An entry is
 * - a host, `api.example.com`, or `*.example.com` for every host below it: https, default port, public addresses only;
 * - an origin, `http://10.0.0.5:8080`: that one exactly, also without TLS and wherever its name leads. It is how a private host is listed.
 *
 * Throws `RangeError` for anything else.
 */
export function parseAllowList(entries: readonly string[]): AllowList {
  const hosts = entries.filter((entry) => HOST.test(entry));
  const origins = new Set(entries.filter((entry) => !HOST.test(entry)).map(originOf));
  return (url) => {
    if (url.username || url.password) return { kind: "denied", reason: "must not carry credentials" };
    if (origins.has(url.origin)) return { kind: "allowed", anyAddress: true };
    if (!hosts.some((host) => matches(host, url.hostname)))
      return {
        kind: "denied",
        reason: `must have a host on the deployment's allow-list (httpAllowedHosts), got ${shownOrigin(url)}`,
      };
    if (url.protocol !== "https:" || url.port)
      return { kind: "denied", reason: `must be https on its default port, got ${shownOrigin(url)}` };
    return { kind: "allowed", anyAddress: false };
  };
}

function originOf(entry: string): string {
  if (isOrigin(entry)) return entry;
  throw new RangeError(`an entry of the allow-list must be ${ALLOW_LIST_RULE}, got ${entry}`);
}

function isOrigin(entry: string): boolean {
  const url = URL.canParse(entry) ? new URL(entry) : undefined;
  return url?.origin === entry && /^https?:$/.test(url.protocol);
}

/** What an entry of an allow-list must be, in words. */
export const ALLOW_LIST_RULE = "a host (api.example.com, *.example.com) or an origin (http://10.0.0.5:8080)";

/** Whether {@link parseAllowList} can read `entry`. */
export const isAllowListEntry = (entry: string): boolean => HOST.test(entry) || isOrigin(entry);

const matches = (host: string, hostname: string): boolean =>
  host.startsWith("*.") ? hostname.endsWith(host.slice(1)) : hostname === host;

const shownOrigin = ({ protocol, host }: URL): string => `${protocol}//${host}`;
