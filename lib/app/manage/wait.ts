import { errorMessage } from "../../core/errors.ts";
import { type Instant, plusMs } from "../../core/instant.ts";
import { isTerminal, type Occurrence, type OccurrenceKey } from "../../core/occurrence.ts";
import { StoreError } from "../errors.ts";
import { InvalidArgumentError, OccurrenceNotFoundError } from "./errors.ts";
import type { Manager } from "./manager.ts";
import { readOccurrence } from "./occurrences.ts";

/** How long a run is followed unless the caller says otherwise, and at most: as long as one attempt may take. */
export const WAIT_TIMEOUT_SECONDS = 3_600;
export const WAIT_TIMEOUT_MAX_SECONDS = 7 * 86_400;

/** The pause between two looks: short for a short run, and growing, so that a long one costs few reads. */
const POLL_MIN_MS = 500;
const POLL_MAX_MS = 5_000;
const POLL_GROWTH = 1.3;

/** How a run is followed. */
export interface WaitOptions {
  /** From 0 (one look), {@link WAIT_TIMEOUT_SECONDS} by default. */
  readonly timeoutSeconds?: number;
  /** Ends the waiting; the run goes on. */
  readonly signal?: AbortSignal;
  /** Told at the first look, and whenever its state or attempt has changed. */
  readonly onChange?: (occurrence: Occurrence) => void;
}

/** A run as it was seen last: at its end, or when the time was up or the signal aborted, which leave it alone. */
export interface WaitOutcome {
  readonly kind: "ended" | "timed-out" | "stopped";
  readonly occurrence: Occurrence;
}

/**
 * Follows a run to its end by looking at its row. A run that waits for a retry is not over; a dead letter is. Throws
 * `OccurrenceNotFoundError` where there is no such run, or its row expires meanwhile, `InvalidArgumentError`, and `StoreError`
 * where not even the first look is answered.
 */
export async function waitForEnd(
  manager: Manager,
  key: OccurrenceKey,
  options: WaitOptions = {},
): Promise<WaitOutcome> {
  const { timeoutSeconds = WAIT_TIMEOUT_SECONDS, signal, onChange } = options;
  if (!(timeoutSeconds >= 0 && timeoutSeconds <= WAIT_TIMEOUT_MAX_SECONDS))
    throw new InvalidArgumentError(
      `timeoutSeconds must be a number of seconds from 0 to ${WAIT_TIMEOUT_MAX_SECONDS}, got ${timeoutSeconds}`,
    );
  const until = plusMs(manager.clock.now(), timeoutSeconds * 1000);
  let seen: string | undefined;
  let last: Occurrence | undefined;
  for (let pollMs = POLL_MIN_MS; ; pollMs = Math.min(pollMs * POLL_GROWTH, POLL_MAX_MS)) {
    const occurrence = await look(manager, key, last);
    last = occurrence;
    const state = `${occurrence.status} ${occurrence.attempts}`;
    if (state !== seen) onChange?.(occurrence);
    seen = state;
    if (isTerminal(occurrence.status)) return { kind: "ended", occurrence };
    if (signal?.aborted) return { kind: "stopped", occurrence };
    const now = manager.clock.now();
    if (now >= until) return { kind: "timed-out", occurrence };
    await manager.clock.sleepUntil(earlier(plusMs(now, Math.round(pollMs)), until), signal);
  }
}

/** The run as it stands; a look that the store does not answer sees what the one before saw, for a run goes on without it. */
async function look(manager: Manager, key: OccurrenceKey, last: Occurrence | undefined): Promise<Occurrence> {
  try {
    const occurrence = await readOccurrence(manager, key);
    if (occurrence === undefined) throw new OccurrenceNotFoundError(key);
    return occurrence;
  } catch (error) {
    if (last === undefined || !(error instanceof StoreError)) throw error;
    manager.logger.warn("a run could not be looked at; it is looked at again", { error: errorMessage(error) });
    return last;
  }
}

const earlier = (left: Instant, right: Instant): Instant => (left < right ? left : right);
