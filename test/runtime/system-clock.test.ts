import { expect, it } from "vitest";
import { plusMs } from "../../lib/core/instant.ts";
import { systemClock } from "../../lib/runtime/system-clock.ts";

it("tells this host's time", () => {
  const before = Date.now();
  const now = systemClock().now();
  expect(now).toBeGreaterThanOrEqual(before);
  expect(now).toBeLessThanOrEqual(Date.now());
});

it("wakes at or after an instant, at once for one that is past, and early once told to stop", async () => {
  const clock = systemClock();
  const at = plusMs(clock.now(), 20);
  await clock.sleepUntil(at);
  expect(clock.now()).toBeGreaterThanOrEqual(at);
  await clock.sleepUntil(plusMs(clock.now(), -1_000));
  const stop = new AbortController();
  const sleeping = clock.sleepUntil(plusMs(clock.now(), 3_600_000), stop.signal);
  stop.abort();
  await sleeping;
});
