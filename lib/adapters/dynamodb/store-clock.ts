import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { ClockUnavailableError } from "../../app/errors.ts";
import type { Clock, Host, Logger } from "../../app/ports.ts";
import { errorMessage } from "../../core/errors.ts";
import { type Instant, instant } from "../../core/instant.ts";
import { LEASES } from "../../core/lease.ts";
import { highWaterRequest } from "./high-water.ts";
import { aged, bisectingDelayMs, NO_ESTIMATE, type OffsetSample, observe, widthMs } from "./offset.ts";
import { observeDates } from "./response-dates.ts";

/** A host whose own clock is further off than this is not believed in anything: AWS itself refuses requests signed 5 minutes off (Signature Version 4, "Elements of a request signature"). */
export const CLOCK_OFFSET_MAX_MS = 300_000;

/** Wider bounds are as good as none: leases trust two clocks to differ by less than their margin. */
export const CLOCK_UNCERTAINTY_MAX_MS = LEASES.leaseMarginMs;

/** Bounds this close need no narrowing. */
export const CLOCK_UNCERTAINTY_AIM_MS = 20;

/**
 * How far a host's wall clock may part from its monotonic clock without the latter having stood still. A wall clock that is set
 * looks the same, and costs a request: set back, it could hide a standstill.
 */
export const CLOCKS_AGREE_MS = 50;

/**
 * Who must agree on the store's time before it is gone by: two responses, or one and this host's own clock. A lease written
 * by one wrong response alone would have run out before it began.
 */
const WITNESSES = 2;

/** Requests for a first sample, and for narrowing it: each halves the bounds, so ten make 10 ms of a second. */
const PROBES_MAX = 3;
const NARROWING_PROBES_MAX = 12;

/** The longest sleep in one go: what is known of the store's clock may change meanwhile. */
const SLEEP_MAX_MS = 60_000;

/** What is known of the store's clock: its lead over this host's wall clock, and by how much that may be wrong. */
export type ClockReading =
  | {
      readonly kind: "known";
      /** The earliest that it can be at the store. */
      readonly at: Instant;
      readonly offsetMs: number;
      readonly uncertaintyMs: number;
      readonly outliers: number;
    }
  | { readonly kind: "unavailable"; readonly reason: string; readonly outliers: number };

/** An {@link OffsetSample} with the time between its sending and receiving by the wall clock, which no standstill hides. */
export interface ClockSample extends OffsetSample {
  readonly wallElapsedMs: number;
}

/** The store's clock, as far as its responses tell. */
export interface StoreClock extends Clock {
  /** The earliest that it can be at the store: whoever goes by it fires nothing early and takes no lease before its end. */
  now(): Instant;
  reading(): ClockReading;
  observe(sample: ClockSample): void;
  /** Where the time is not known, sends a cheap request, again if need be. Never throws; `now` does. */
  probe(): Promise<void>;
  /**
   * Sends a bounded number of cheap requests, each at the moment that halves the bounds, until they are close: some seconds,
   * beside other work. Never throws.
   */
  narrow(signal?: AbortSignal): Promise<void>;
}

/** What the clock needs: this host's own clocks, and a cheap request whose response reaches {@link StoreClock.observe}. */
export interface StoreClockOptions {
  readonly host: Host;
  readonly send: () => Promise<unknown>;
  readonly logger: Pick<Logger, "warn">;
}

/** A clock that knows nothing yet. */
export function createStoreClock({ host, send, logger }: StoreClockOptions): StoreClock {
  let estimate = NO_ESTIMATE;
  let tripMs = 0;
  let differenceAtSampleMs = 0;
  let witnessed = false;
  const differenceMs = () => host.wallMs() - host.monotonicMs();
  /** A monotonic clock that stood still since the last sample (a freeze, a suspended machine) makes every sample wrong. */
  const forgetAfterStandstill = (): void => {
    if (Math.abs(differenceMs() - differenceAtSampleMs) <= CLOCKS_AGREE_MS) return;
    estimate = { ...NO_ESTIMATE, samples: estimate.samples, outliers: estimate.outliers };
    witnessed = false;
  };

  const bounds = () => estimate.bounds && aged(estimate.bounds, host.monotonicMs());
  const reading = (): ClockReading => {
    forgetAfterStandstill();
    const { outliers } = estimate;
    const known = bounds();
    if (known === undefined)
      return { kind: "unavailable", reason: "no response has told the store's time yet", outliers };
    const uncertaintyMs = widthMs(known);
    const storeMs = known.lowMs + host.monotonicMs();
    const offsetMs = storeMs - host.wallMs();
    const reason =
      uncertaintyMs > CLOCK_UNCERTAINTY_MAX_MS
        ? `the store's time must be known to ${CLOCK_UNCERTAINTY_MAX_MS} ms, got ${Math.round(uncertaintyMs)}`
        : Math.abs(offsetMs) > CLOCK_OFFSET_MAX_MS
          ? `this host's clock must be within ${CLOCK_OFFSET_MAX_MS} ms of the store's, got ${Math.round(offsetMs)}`
          : !witnessed
            ? `a first response must agree with this host's clock to ${CLOCK_UNCERTAINTY_MAX_MS} ms or with a second response, got ${Math.round(offsetMs)} ms between them`
            : undefined;
    return reason === undefined
      ? { kind: "known", at: instant(Math.floor(storeMs)), offsetMs, uncertaintyMs, outliers }
      : { kind: "unavailable", reason, outliers };
  };
  const now = (): Instant => {
    const current = reading();
    if (current.kind === "unavailable") throw new ClockUnavailableError(current.reason);
    return current.at;
  };
  const ask = () =>
    send().catch((thrown: unknown) => {
      // Also an error's response carries the time; what carries none leaves the clock unavailable, which `now` reports.
      logger.warn("a request for the store's time failed", { error: errorMessage(thrown) });
    });

  const probe = async (): Promise<void> => {
    for (let sent = 0; sent < PROBES_MAX && reading().kind === "unavailable"; sent += 1) await ask();
  };

  return {
    now,
    reading,
    observe: (sample) => {
      forgetAfterStandstill();
      const elapsedMs = sample.receivedMs - sample.sentMs;
      if (Math.abs(sample.wallElapsedMs - elapsedMs) > CLOCKS_AGREE_MS) return;
      const { outliers } = estimate;
      estimate = observe(estimate, sample);
      tripMs = elapsedMs;
      differenceAtSampleMs = differenceMs();
      const offsetMs = (estimate.bounds?.lowMs ?? 0) - differenceAtSampleMs;
      witnessed ||= estimate.agreeing >= WITNESSES || Math.abs(offsetMs) <= CLOCK_UNCERTAINTY_MAX_MS;
      if (estimate.outliers > outliers)
        logger.warn("a response's time contradicts those before it", { ...sample, outliers: estimate.outliers });
    },
    probe,
    narrow: async (signal) => {
      for (let sent = 0; sent < NARROWING_PROBES_MAX && !signal?.aborted; sent += 1) {
        const known = bounds();
        if (known && widthMs(known) <= CLOCK_UNCERTAINTY_AIM_MS) return;
        if (known) await host.sleep(bisectingDelayMs(known, host.monotonicMs(), tripMs / 2), signal);
        if (!signal?.aborted) await ask();
      }
    },
    sleepUntil: async (at, signal) => {
      while (!signal?.aborted) {
        await probe();
        const remainingMs = at - now();
        if (remainingMs <= 0) return;
        await host.sleep(Math.min(remainingMs, SLEEP_MAX_MS), signal);
      }
    },
  };
}

/** The clock that the responses to `client`'s requests tell. */
export type DynamoDbClock = StoreClock;

/** A {@link StoreClock} fed by every response to `client`. Must be called before the client's first request. */
export function createDynamoDbClock(options: {
  readonly client: DynamoDBClient;
  readonly occurrencesTable: string;
  readonly host: Host;
  readonly logger: Pick<Logger, "warn">;
}): DynamoDbClock {
  const { client, occurrencesTable, host, logger } = options;
  const clock = createStoreClock({ host, logger, send: () => client.send(highWaterRequest(occurrencesTable)) });
  observeDates(client, host, clock.observe);
  return clock;
}
