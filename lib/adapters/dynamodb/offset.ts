/**
 * Estimates how far the store's clock is ahead of this host's monotonic clock, from the `Date` headers of responses: pure.
 * All members and arguments are milliseconds.
 */

/** One response: when its request left and it arrived, by the monotonic clock, and the `Date` it carried. */
export interface OffsetSample {
  readonly sentMs: number;
  readonly receivedMs: number;
  readonly dateMs: number;
}

/** The store's clock minus the monotonic clock lay within [low, high] at `atMs` of the monotonic clock. */
export interface OffsetBounds {
  readonly lowMs: number;
  readonly highMs: number;
  readonly atMs: number;
}

/** What the samples so far say. */
export interface OffsetEstimate {
  readonly bounds?: OffsetBounds;
  /** The last sample, where it contradicts `bounds`: a second one that agrees with it replaces them. */
  readonly outlier?: OffsetBounds;
  readonly samples: number;
  /** How many samples agree on `bounds`: one alone may be a server's mistake. */
  readonly agreeing: number;
  readonly outliers: number;
}

/** Before the first sample. */
export const NO_ESTIMATE: OffsetEstimate = { samples: 0, agreeing: 0, outliers: 0 };

/** The resolution of an HTTP date (RFC 9110, section 5.6.7): the time is cut to whole seconds. */
const DATE_RESOLUTION_MS = 1_000;

/** What a monotonic clock may gain or lose, as NTP may slew it: 500 ppm (Linux, adjtimex(2), the limit of `freq`). */
const DRIFT_PER_MS = 500e-6;

/** DynamoDB answers from many hosts: their clocks need not agree closer than this with one another. */
const SERVER_SKEW_MS = 5;

/** The estimate once `sample` has been seen. */
export function observe(estimate: OffsetEstimate, sample: OffsetSample): OffsetEstimate {
  const said = boundsOf(sample);
  const samples = estimate.samples + 1;
  if (estimate.bounds === undefined) return { bounds: said, samples, agreeing: 1, outliers: estimate.outliers };
  const agreed = intersection(aged(estimate.bounds, said.atMs), said);
  if (agreed) return { bounds: agreed, samples, agreeing: estimate.agreeing + 1, outliers: estimate.outliers };
  const outliers = estimate.outliers + 1;
  const replacement = estimate.outlier && intersection(aged(estimate.outlier, said.atMs), said);
  if (replacement) return { bounds: replacement, samples, agreeing: 2, outliers };
  return { bounds: estimate.bounds, outlier: said, samples, agreeing: estimate.agreeing, outliers };
}

/**
 * What one response says: the store's time was in [date, date + 1 s) at some moment between sending and receiving. So the
 * offset is at least date - received, and below date + 1 s - sent.
 */
const boundsOf = ({ sentMs, receivedMs, dateMs }: OffsetSample): OffsetBounds => ({
  lowMs: dateMs - receivedMs - SERVER_SKEW_MS,
  highMs: dateMs + DATE_RESOLUTION_MS - sentMs + SERVER_SKEW_MS,
  atMs: receivedMs,
});

/** `bounds` at a later `atMs`: as much wider as the two clocks may have drifted apart. */
export function aged(bounds: OffsetBounds, atMs: number): OffsetBounds {
  const driftMs = Math.max(0, atMs - bounds.atMs) * DRIFT_PER_MS;
  return { lowMs: bounds.lowMs - driftMs, highMs: bounds.highMs + driftMs, atMs: Math.max(atMs, bounds.atMs) };
}

function intersection(left: OffsetBounds, right: OffsetBounds): OffsetBounds | undefined {
  const lowMs = Math.max(left.lowMs, right.lowMs);
  const highMs = Math.min(left.highMs, right.highMs);
  return lowMs <= highMs ? { lowMs, highMs, atMs: Math.max(left.atMs, right.atMs) } : undefined;
}

/** How far apart the bounds are. */
export const widthMs = ({ lowMs, highMs }: OffsetBounds): number => highMs - lowMs;

/**
 * How long to wait at `monotonicMs` before a request whose answer halves the bounds: it must reach the store, `leadMs` after
 * it left, just when a second begins there if the offset is the middle of the bounds. Requests at a fixed phase of the
 * second learn nothing new.
 */
export function bisectingDelayMs(bounds: OffsetBounds, monotonicMs: number, leadMs: number): number {
  const storeMs = monotonicMs + leadMs + (bounds.lowMs + bounds.highMs) / 2;
  const phaseMs = ((storeMs % DATE_RESOLUTION_MS) + DATE_RESOLUTION_MS) % DATE_RESOLUTION_MS;
  return DATE_RESOLUTION_MS - phaseMs;
}
