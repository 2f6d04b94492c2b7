import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DEFAULT_RETRY, type RetryPolicy, retryDelayMs } from "../../lib/core/retry.ts";

const plain: RetryPolicy = { ...DEFAULT_RETRY, jitter: false };
/** The largest number that `Math.random` gives. */
const NEARLY_ONE = 1 - 2 ** -53;

describe("the delay before the next attempt", () => {
  it("doubles from the base and stops at the maximum", () => {
    const delays = Array.from({ length: 11 }, (_, index) => retryDelayMs(plain, index + 1, 0) / 1000);
    expect(delays).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
  });

  // F289: Google's scheduler has a number of doublings besides, after which delays grow linearly. Here they double until the
  // maximum, which alone bounds them.
  it("doubles until the maximum cuts it, whatever the base", () => {
    const policy = { ...plain, baseDelaySeconds: 10 };
    const delays = [1, 2, 3, 4, 5, 6, 7].map((attempt) => retryDelayMs(policy, attempt, 0) / 1000);
    expect(delays).toEqual([10, 20, 40, 80, 160, 300, 300]);
  });

  // F268, F269, F271, F274, F275: shifts and powers that overflow gave 0, negative or endless delays.
  it.each([24, 31, 32, 33, 64, 1_100, Number.MAX_SAFE_INTEGER])("is the maximum at attempt %i", (attempt) => {
    expect(retryDelayMs(plain, attempt, 0)).toBe(300_000);
    expect(retryDelayMs({ ...plain, multiplier: 100, baseDelaySeconds: 604_800 }, attempt, 0)).toBe(300_000);
  });

  it("stays nothing where the base is nothing, however large the power", () => {
    expect(retryDelayMs({ ...plain, baseDelaySeconds: 0 }, 1_100, 0.5)).toBe(0);
    expect(retryDelayMs({ ...plain, maxDelaySeconds: 0 }, 3, 0.5)).toBe(0);
  });

  it("stays the base where the multiplier is 1", () => {
    expect(retryDelayMs({ ...plain, multiplier: 1, baseDelaySeconds: 7 }, 50, 0)).toBe(7_000);
  });

  it("is spread over the whole range from nothing, also at the maximum (F277)", () => {
    expect(retryDelayMs(DEFAULT_RETRY, 50, 0)).toBe(0);
    expect(retryDelayMs(DEFAULT_RETRY, 50, 0.5)).toBe(150_000);
    expect(retryDelayMs(DEFAULT_RETRY, 50, NEARLY_ONE)).toBe(300_000);
    expect(retryDelayMs(DEFAULT_RETRY, 1, 0.25)).toBe(250);
  });

  it("is raised to what the job asked for, and not lowered to it", () => {
    expect(retryDelayMs(plain, 1, 0, 30)).toBe(30_000);
    expect(retryDelayMs(plain, 6, 0, 30)).toBe(32_000);
    expect(retryDelayMs(DEFAULT_RETRY, 1, 0, 1_000)).toBe(1_000_000);
  });

  // F272, F278: NaN and delays above the cap.
  it("is a whole number of milliseconds between nothing and the maximum, whatever the policy", () => {
    const policy = fc.record({
      maxAttempts: fc.constant(10),
      baseDelaySeconds: fc.double({ min: 0, max: 604_800, noNaN: true }),
      multiplier: fc.double({ min: 1, max: 100, noNaN: true }),
      maxDelaySeconds: fc.double({ min: 0, max: 604_800, noNaN: true }),
      jitter: fc.boolean(),
    });
    const random = fc.double({ min: 0, max: NEARLY_ONE, noNaN: true });
    fc.assert(
      fc.property(policy, fc.integer({ min: 1, max: 2_000 }), random, (given, attempt, draw) => {
        const delayMs = retryDelayMs(given, attempt, draw);
        expect(Number.isInteger(delayMs)).toBe(true);
        expect(delayMs).toBeGreaterThanOrEqual(0);
        expect(delayMs).toBeLessThanOrEqual(Math.ceil(given.maxDelaySeconds * 1000));
      }),
    );
  });
});
