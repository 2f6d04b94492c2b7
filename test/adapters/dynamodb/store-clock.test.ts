import { describe, expect, it } from "vitest";
import { createStoreClock } from "../../../lib/adapters/dynamodb/store-clock.ts";
import { ClockUnavailableError } from "../../../lib/app/errors.ts";
import { instant, plusMs } from "../../../lib/core/instant.ts";
import { type SimulatedTimeOptions, simulateTime } from "./simulated-store.ts";

function simulatedClock(
  options: SimulatedTimeOptions & { readonly skewMs?: () => number; readonly lost?: () => boolean } = {},
) {
  const time = simulateTime(options);
  const logged: string[] = [];
  let requests = 0;
  const clock = createStoreClock({
    host: time.host,
    logger: { warn: (message) => void logged.push(message) },
    send: async () => {
      requests += 1;
      const sample = time.exchange(options.skewMs?.());
      if (options.lost?.()) throw new Error("connection reset");
      clock.observe(sample);
    },
  });
  /** How far the clock is behind the store: negative would be early. */
  const behindMs = () => time.storeMs() - clock.now();
  return { time, clock, behindMs, logged, requests: () => requests };
}

describe("the store's clock", () => {
  it("does not guess before it has heard from the store", () => {
    const { clock } = simulatedClock();
    expect(() => clock.now()).toThrow(ClockUnavailableError);
    expect(clock.reading()).toMatchObject({ kind: "unavailable" });
  });

  it("does not believe a first response alone that contradicts the host's own clock", async () => {
    const skews = [-81_000, 0, 0];
    const { clock, behindMs, requests } = simulatedClock({ skewMs: () => skews.shift() ?? 0 });
    await clock.probe();
    expect(requests()).toBe(3);
    expect(behindMs()).toBeGreaterThanOrEqual(0);
    expect(behindMs()).toBeLessThan(1_020);
  });

  it.each([
    ["right", 0],
    ["20 s fast", 20_000],
    ["20 s slow", -20_000],
  ])("is the store's on a host that is %s: never early, and close once narrowed", async (_, hostAheadMs) => {
    const { clock, behindMs } = simulatedClock({ hostAheadMs });
    await clock.probe();
    expect(behindMs()).toBeGreaterThanOrEqual(0);
    expect(behindMs()).toBeLessThan(1_020);
    await clock.narrow();
    expect(behindMs()).toBeGreaterThanOrEqual(0);
    expect(behindMs()).toBeLessThan(25);
    const reading = clock.reading();
    expect(reading.kind === "known" && Math.abs(reading.offsetMs + hostAheadMs)).toBeLessThan(25);
  });

  it("is never early over an hour of polls, whatever the host's clocks do", async () => {
    const { time, clock, behindMs } = simulatedClock({ driftPpm: 300, hostAheadMs: 1_000 });
    await clock.probe();
    for (let poll = 0; poll < 3_600; poll += 1) {
      time.pass(991);
      if (poll % 600 === 0) time.stepWall(poll % 1_200 === 0 ? 15_000 : -25_000);
      await clock.probe();
      expect(behindMs()).toBeGreaterThanOrEqual(0);
      clock.observe(time.exchange());
    }
    expect(behindMs()).toBeLessThan(50);
  });

  it("does not follow a host's wall clock that steps", async () => {
    const { time, clock, behindMs } = simulatedClock();
    await clock.narrow();
    for (const stepMs of [-40_000, 80_000]) {
      time.stepWall(stepMs);
      await clock.probe();
      expect(behindMs()).toBeGreaterThanOrEqual(0);
      expect(behindMs()).toBeLessThan(1_020);
    }
  });

  it("is unavailable on a host whose wall clock is further off than AWS itself accepts", async () => {
    const { clock } = simulatedClock({ hostAheadMs: -400_000 });
    await clock.probe();
    expect(() => clock.now()).toThrow("this host's clock must be within 300000 ms of the store's, got 39");
  });

  it("is unavailable where exchanges take so long that they tell too little", async () => {
    const { clock, requests } = simulatedClock({ requestMs: 1_000, responseMs: 1_000 });
    await clock.probe();
    expect(() => clock.now()).toThrow(/the store.s time must be known to 2000 ms, got 3\d\d\d$/);
    expect(requests()).toBe(3);
  });

  it("becomes unavailable when it has not heard from the store for hours", async () => {
    const { time, clock } = simulatedClock();
    await clock.narrow();
    time.pass(3_600_000);
    expect(() => clock.now()).toThrow(ClockUnavailableError);
  });

  it("drops a wrong header and says so", async () => {
    const { time, clock, behindMs, logged } = simulatedClock();
    await clock.narrow();
    clock.observe(time.exchange(-86_400_000));
    expect(behindMs()).toBeLessThan(25);
    expect(clock.reading()).toMatchObject({ outliers: 1 });
    expect(logged).toEqual(["a response's time contradicts those before it"]);
  });

  it("recovers from a first header that was wrong", async () => {
    const skews = [-30_000, 0, 0, 0];
    const { clock, behindMs } = simulatedClock({ skewMs: () => skews.shift() ?? 0 });
    await clock.probe();
    for (let more = 0; more < 2; more += 1) await clock.narrow();
    expect(behindMs()).toBeGreaterThanOrEqual(0);
    expect(behindMs()).toBeLessThan(25);
  });

  it("keeps after a pause what it knew, where both of the host's clocks went on", async () => {
    const { time, clock, behindMs } = simulatedClock();
    await clock.narrow();
    time.pass(40_000);
    expect(behindMs()).toBeGreaterThanOrEqual(0);
    expect(behindMs()).toBeLessThan(100);
  });

  it("forgets after a freeze what it knew: the monotonic clock stood still", async () => {
    const { time, clock, behindMs } = simulatedClock();
    await clock.narrow();
    time.freeze(600_000);
    expect(() => clock.now()).toThrow(ClockUnavailableError);
    await clock.probe();
    expect(behindMs()).toBeGreaterThanOrEqual(0);
    expect(behindMs()).toBeLessThan(1_020);
  });

  it("forgets it also where the wall clock was set back meanwhile, by more than the freeze", async () => {
    const { time, clock, behindMs } = simulatedClock();
    await clock.narrow();
    time.freeze(7_000);
    time.stepWall(-20_000);
    await clock.probe();
    expect(behindMs()).toBeGreaterThanOrEqual(0);
    expect(behindMs()).toBeLessThan(1_020);
  });
});

describe("a host that is frozen while it waits for an answer", () => {
  it("learns nothing from that answer, and does not go by what it knew before", async () => {
    const { time, clock, behindMs } = simulatedClock();
    await clock.narrow();
    clock.observe(time.exchange(0, 60_000));
    expect(() => clock.now()).toThrow(ClockUnavailableError);
    await clock.probe();
    expect(behindMs()).toBeGreaterThanOrEqual(0);
    expect(behindMs()).toBeLessThan(1_020);
  });

  it("asks anew before it sleeps until an instant", async () => {
    const { time, clock } = simulatedClock();
    await clock.narrow();
    const at = plusMs(clock.now(), 90_000);
    time.freeze(60_000);
    await clock.sleepUntil(at);
    expect(time.storeMs()).toBeGreaterThanOrEqual(at);
    expect(time.storeMs() - at).toBeLessThan(1_020);
  });
});

describe("asking for the time", () => {
  it("takes one request where that is enough, and none where the time is known", async () => {
    const { clock, requests } = simulatedClock();
    await clock.probe();
    await clock.probe();
    expect(requests()).toBe(1);
  });

  it("tries again after a failure, a bounded number of times, and leaves it to now() to throw", async () => {
    const { clock, requests, logged } = simulatedClock({ lost: () => true });
    await clock.probe();
    expect(requests()).toBe(3);
    expect(logged).toEqual(Array(3).fill("a request for the store's time failed"));
    expect(() => clock.now()).toThrow(ClockUnavailableError);
  });

  it("narrows in a bounded number of requests, also where they are slow", async () => {
    const { clock, requests } = simulatedClock({ requestMs: 40, responseMs: 40 });
    await clock.narrow();
    expect(requests()).toBe(12);
    expect(clock.reading()).toMatchObject({ kind: "known" });
    const reading = clock.reading();
    expect(reading.kind === "known" && reading.uncertaintyMs).toBeLessThan(100);
  });

  it("stops narrowing when told to", async () => {
    const { clock, requests } = simulatedClock();
    await clock.narrow(AbortSignal.abort());
    expect(requests()).toBe(0);
  });
});

describe("sleeping until an instant", () => {
  it("wakes at or just after it by the store's clock, on a host 20 s fast", async () => {
    const { time, clock } = simulatedClock({ hostAheadMs: 20_000, driftPpm: 200 });
    await clock.narrow();
    const at = instant(Math.ceil(time.storeMs()) + 300_000);
    await clock.sleepUntil(at);
    expect(clock.now()).toBeGreaterThanOrEqual(at);
    expect(time.storeMs() - at).toBeLessThan(300);
  });

  it("returns at once for an instant that is past, or once told to stop", async () => {
    const { time, clock } = simulatedClock();
    await clock.probe();
    const before = time.storeMs();
    await clock.sleepUntil(clock.now());
    await clock.sleepUntil(plusMs(clock.now(), 10_000), AbortSignal.abort());
    expect(time.storeMs()).toBe(before);
  });
});
