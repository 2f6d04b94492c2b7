import { pause } from "../../runtime/pause.ts";
import { failedItems } from "./batch-response.ts";
import type { ShardRecord } from "./stream-event.ts";

/** How a batch of stream records is delivered. */
export interface Delivery {
  /** Retries after the first try, before the records are given up. */
  readonly maxRetries: number;
  /** Whether a failing batch is halved to close in on the record that fails. */
  readonly bisect: boolean;
  readonly reportsItemFailures: boolean;
  /** Hands records to the function; `undefined` when it threw. */
  readonly invoke: (records: readonly ShardRecord[]) => Promise<{ readonly answer: unknown } | undefined>;
  /** Takes records that were given up, after `tries` invocations. */
  readonly giveUp: (records: readonly ShardRecord[], tries: number) => Promise<void>;
}

/** Lambda backs off between retries of a stream batch without saying how; here from 100 ms, doubling, to 5 s. */
const RETRY_PAUSE_MS = { base: 100, max: 5_000 };

interface Part {
  readonly records: readonly ShardRecord[];
  readonly tries: number;
}

/**
 * Delivers a batch in order, as Lambda's stream event sources do: after a partial failure from the first failed record on, after any
 * other failure in halves (which costs no retry) or as a whole, and gives up what used up its retries.
 * Resolves to false when `signal` aborted first; the records are then to be delivered again.
 */
export async function deliver(
  records: readonly ShardRecord[],
  delivery: Delivery,
  signal: AbortSignal,
): Promise<boolean> {
  const parts: Part[] = records.length > 0 ? [{ records, tries: 0 }] : [];
  for (let part = parts.shift(); part; part = parts.shift()) {
    if (signal.aborted) return false;
    const firstFailed = await tryOnce(part.records, delivery);
    if (firstFailed === undefined) continue;
    const rest = part.records.slice(firstFailed);
    const tries = part.tries + 1;
    if (firstFailed === 0 && delivery.bisect && rest.length > 1) {
      const middle = Math.ceil(rest.length / 2);
      parts.unshift(
        { records: rest.slice(0, middle), tries: part.tries },
        { records: rest.slice(middle), tries: part.tries },
      );
    } else if (tries > delivery.maxRetries) {
      await delivery.giveUp(rest, tries);
    } else {
      parts.unshift({ records: rest, tries });
      await pause(Math.min(RETRY_PAUSE_MS.max, RETRY_PAUSE_MS.base * 2 ** (tries - 1)), signal);
    }
  }
  return true;
}

/** The index of the first record that failed, `undefined` when none did. */
async function tryOnce(records: readonly ShardRecord[], delivery: Delivery): Promise<number | undefined> {
  const result = await delivery.invoke(records);
  if (!result) return 0;
  if (!delivery.reportsItemFailures) return undefined;
  const ids = records.map(({ sequenceNumber }) => sequenceNumber);
  const failed = failedItems(result.answer, ids);
  const first = ids.findIndex((id) => failed.has(id));
  return first === -1 ? undefined : first;
}
