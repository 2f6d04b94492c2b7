import { PunctualError } from "../core/errors.ts";

/**
 * Marks the errors below. A symbol of the global registry, because a job's bundle may carry its own copy of this module, or
 * run in another realm, where `instanceof` does not know them.
 */
const OUTCOME = Symbol.for("punctual.outcome");

/** The longest wait that a job may ask for before its next attempt; a longer one is cut to this. */
export const RETRY_AFTER_MAX_SECONDS = 30 * 86_400;

/** What a {@link RetryableError} may say beside its message. */
export interface RetryableErrorOptions extends ErrorOptions {
  /** The next attempt comes no sooner than this many seconds from now; the retry policy may make it later. 0 to 30 days. */
  readonly retryAfterSeconds?: number;
}

/**
 * Thrown by a job to say that another attempt may succeed: what every other error says too, but for
 * `retryAfterSeconds`. When the attempts are used up the run is a dead letter.
 */
export class RetryableError extends PunctualError {
  readonly [OUTCOME] = "retryable";
  readonly retryAfterSeconds: number | undefined;

  constructor(message: string, options: RetryableErrorOptions = {}) {
    super("Retryable", message, options);
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/** Thrown by a job to say that no attempt can succeed: the run fails at once and is a dead letter. */
export class PermanentError extends PunctualError {
  readonly [OUTCOME] = "permanent";

  constructor(message: string, options: ErrorOptions = {}) {
    super("Permanent", message, options);
  }
}

/** What a thrown value asks for. */
export type ThrownOutcome =
  | { readonly kind: "permanent" }
  | { readonly kind: "retryable"; readonly retryAfterSeconds?: number };

/**
 * What becomes of a run whose job threw `thrown`: permanent only where it says so; anything else, whatever it is, is
 * retryable. A `retryAfterSeconds` that is no number of seconds from 0 up is as good as none.
 */
export function outcomeOf(thrown: unknown): ThrownOutcome {
  if (property(thrown, OUTCOME) === "permanent") return { kind: "permanent" };
  const asked = property(thrown, OUTCOME) === "retryable" ? property(thrown, "retryAfterSeconds") : undefined;
  return typeof asked === "number" && asked >= 0
    ? { kind: "retryable", retryAfterSeconds: Math.min(asked, RETRY_AFTER_MAX_SECONDS) }
    : { kind: "retryable" };
}

function property(value: unknown, key: PropertyKey): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  try {
    return Reflect.get(value, key);
  } catch {
    // A stranger's getter or proxy that throws is not one of ours, and says nothing.
    return undefined;
  }
}
