import type { RecordedError } from "./occurrence.ts";
import { acceptableText, boundedText } from "./plain-text.ts";

/** The longest error name kept on a row, in UTF-16 units. */
export const ERROR_NAME_MAX_CHARACTERS = 256;

/** The longest error message kept on a row, causes included, in UTF-16 units: ten log entries of it stay far below an item's 400 KB. */
export const ERROR_MESSAGE_MAX_CHARACTERS = 1_024;

/** How many causes are told of: a chain may be a ring. */
const CAUSES_MAX = 3;

/** The name under which a thrown value that is nothing like an error is recorded. */
const NOT_AN_ERROR = "NonError";

/**
 * Anything thrown, as it is kept on a row and sent to a queue: never throws itself, whatever the value's getters do; bounded;
 * without characters that SQS or DynamoDB refuse; with up to three causes (`…; caused by Error: …`).
 */
export function recordedError(thrown: unknown): RecordedError {
  const [first, ...causes] = chain(thrown).map(described);
  const { name, message } = first ?? { name: NOT_AN_ERROR, message: "" };
  const told = [message, ...causes.map((cause) => `caused by ${cause.name}: ${cause.message}`)].join("; ");
  return {
    name: boundedText(acceptableText(name), ERROR_NAME_MAX_CHARACTERS),
    message: boundedText(acceptableText(told), ERROR_MESSAGE_MAX_CHARACTERS),
  };
}

function chain(thrown: unknown): unknown[] {
  const links = [thrown];
  for (let cause = property(thrown, "cause"); cause !== undefined && links.length <= CAUSES_MAX; ) {
    links.push(cause);
    cause = property(cause, "cause");
  }
  return links;
}

function described(thrown: unknown): RecordedError {
  const message = property(thrown, "message");
  if (typeof message !== "string") return { name: NOT_AN_ERROR, message: textOf(thrown) };
  const name = property(thrown, "name");
  return { name: typeof name === "string" && name ? name : "Error", message: message || standInFor(thrown) };
}

/** Node gives refused connections an empty message, and the reason as `code` and in `errors`. */
function standInFor(error: unknown): string {
  const code = property(error, "code");
  const errors = property(error, "errors");
  const inner = Array.isArray(errors) ? property(errors[0], "message") : undefined;
  return [inner, code].find((text) => typeof text === "string" && text !== "")?.toString() ?? "(no message)";
}

function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null) return `${String(value)} was thrown`;
  try {
    return JSON.stringify(value) ?? "an object was thrown";
  } catch {
    // A ring, a bigint, a getter that throws: there is nothing more to tell than what it is.
    return "an object was thrown that cannot be written as JSON";
  }
}

/** A member of a value that a stranger threw: its getters, or the proxy that it is, may throw in their turn. */
function property(value: unknown, key: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  try {
    return Reflect.get(value, key);
  } catch {
    // Says no more than that there is nothing to read.
    return undefined;
  }
}
