import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  aged,
  bisectingDelayMs,
  NO_ESTIMATE,
  type OffsetEstimate,
  observe,
  widthMs,
} from "../../../lib/adapters/dynamodb/offset.ts";
import { simulateTime } from "./simulated-store.ts";

const width = ({ bounds }: OffsetEstimate) => (bounds ? widthMs(bounds) : Number.POSITIVE_INFINITY);

describe("the bounds on the offset", () => {
  it("are a second and the exchange wide after one sample, and the clocks' disagreement either side", () => {
    const estimate = observe(NO_ESTIMATE, { sentMs: 1_000, receivedMs: 1_030, dateMs: 50_000 });
    expect(estimate.bounds).toEqual({ lowMs: 50_000 - 1_030 - 5, highMs: 51_000 - 1_000 + 5, atMs: 1_030 });
  });

  it("always hold the true offset, whatever the phases, delays and drift", () => {
    const steps = fc.array(fc.record({ waitMs: fc.nat(5_000), requestMs: fc.nat(800), responseMs: fc.nat(800) }), {
      minLength: 1,
      maxLength: 50,
    });
    fc.assert(
      fc.property(steps, fc.integer({ min: -500, max: 500 }), (exchanges, driftPpm) => {
        let trueMs = 1e12;
        let monotonicMs = 77;
        let estimate = NO_ESTIMATE;
        const pass = (ms: number) => {
          trueMs += ms;
          monotonicMs += ms * (1 + driftPpm / 1e6);
        };
        for (const { waitMs, requestMs, responseMs } of exchanges) {
          pass(waitMs);
          const sentMs = monotonicMs;
          pass(requestMs);
          const dateMs = Math.floor(trueMs / 1_000) * 1_000;
          pass(responseMs);
          estimate = observe(estimate, { sentMs, receivedMs: monotonicMs, dateMs });
          pass(waitMs);
          const bounds = estimate.bounds && aged(estimate.bounds, monotonicMs);
          expect(bounds?.lowMs).toBeLessThanOrEqual(trueMs - monotonicMs);
          expect(bounds?.highMs).toBeGreaterThanOrEqual(trueMs - monotonicMs);
        }
        expect(estimate.outliers).toBe(0);
      }),
    );
  });

  it("never narrow by samples at a fixed phase of the second", () => {
    const time = simulateTime();
    let estimate = observe(NO_ESTIMATE, time.exchange());
    const first = width(estimate);
    for (let sample = 0; sample < 100; sample += 1) {
      time.pass(1_000 - 4);
      estimate = observe(estimate, time.exchange());
    }
    expect(width(estimate)).toBeGreaterThan(first - 10);
  });

  it("narrow to some 10 ms in ten samples whose phases bisect them", () => {
    const time = simulateTime();
    let estimate = observe(NO_ESTIMATE, time.exchange());
    for (let sample = 0; sample < 9; sample += 1) {
      if (estimate.bounds) time.pass(bisectingDelayMs(estimate.bounds, time.host.monotonicMs(), 2));
      estimate = observe(estimate, time.exchange());
    }
    expect(width(estimate)).toBeLessThan(20);
    expect(estimate.outliers).toBe(0);
  });

  it("widen with age, by what two clocks may drift apart", () => {
    const bounds = { lowMs: 0, highMs: 10, atMs: 0 };
    expect(aged(bounds, 1_000_000)).toEqual({ lowMs: -500, highMs: 510, atMs: 1_000_000 });
    expect(aged(bounds, -5)).toEqual(bounds);
  });
});

describe("a sample that contradicts the bounds", () => {
  it("is dropped and counted, also again and again between good ones", () => {
    const time = simulateTime();
    const good = observe(NO_ESTIMATE, time.exchange());
    let estimate = good;
    for (let round = 1; round <= 5; round += 1) {
      estimate = observe(estimate, time.exchange(-60_000));
      expect(estimate.outliers).toBe(round);
      time.pass(1_000 - 8);
      estimate = observe(estimate, time.exchange());
    }
    expect(estimate.bounds?.lowMs).toBeCloseTo(good.bounds?.lowMs ?? 0, -1);
  });

  it("replaces them once the next one agrees with it: then it is they who were wrong", () => {
    const time = simulateTime();
    let estimate = observe(NO_ESTIMATE, time.exchange());
    time.freeze(30_000);
    estimate = observe(estimate, time.exchange());
    expect(estimate.bounds?.highMs).toBeLessThan(time.storeMs() - time.host.monotonicMs());
    estimate = observe(estimate, time.exchange());
    const offsetMs = time.storeMs() - time.host.monotonicMs();
    expect(estimate.bounds?.lowMs).toBeLessThanOrEqual(offsetMs);
    expect(estimate.bounds?.highMs).toBeGreaterThanOrEqual(offsetMs);
    expect(estimate.outliers).toBe(2);
  });

  it("does not replace them where the next one contradicts it too", () => {
    const time = simulateTime();
    const before = observe(NO_ESTIMATE, time.exchange());
    const after = [-60_000, 90_000].reduce((estimate, skewMs) => observe(estimate, time.exchange(skewMs)), before);
    expect(after.bounds).toEqual(before.bounds);
    expect(after.outliers).toBe(2);
  });
});

it("asks at the moment when a second begins at the store, if the offset is the middle of its bounds", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: -1e12, max: 1e12 }),
      fc.nat(1_000),
      fc.nat(1e9),
      fc.nat(400),
      (lowMs, more, nowMs, leadMs) => {
        const bounds = { lowMs, highMs: lowMs + more, atMs: 0 };
        const delayMs = bisectingDelayMs(bounds, nowMs, leadMs);
        expect(delayMs).toBeGreaterThan(0);
        expect(delayMs).toBeLessThanOrEqual(1_000);
        expect(Math.abs((nowMs + delayMs + leadMs + lowMs + more / 2) % 1_000)).toBeCloseTo(0, 3);
      },
    ),
  );
});
