import { expect, it, onTestFinished } from "vitest";
import { hostUntil } from "../../lib/local/host-until.ts";
import { pause } from "../../lib/runtime/pause.ts";

it("does not end at once for being longer than Node's timers reach (F290)", async () => {
  const stop = new AbortController();
  const ends = [pause(2 ** 31 + 1, stop.signal).then(() => "a month"), pause(50).then(() => "a moment")];
  expect(await Promise.race(ends)).toBe("a moment");
  stop.abort();
  expect(await ends[0]).toBe("a month");
});

it.each([
  ["a signal", (signal: AbortSignal) => pause(60_000, signal)],
  ["the end of a function's time", (signal: AbortSignal) => hostUntil(signal).sleep(60_000)],
])("lets any number wait for %s without a warning of a leak", async (_, wait) => {
  const warnings: Error[] = [];
  const listener = (warning: Error) => void warnings.push(warning);
  process.on("warning", listener);
  onTestFinished(() => void process.off("warning", listener));
  const stop = new AbortController();
  const waiting = Array.from({ length: 20 }, () => wait(stop.signal));
  stop.abort();
  await Promise.all(waiting);
  // A warning is told in the next tick, which has passed by then.
  await pause(0);
  expect(warnings).toEqual([]);
});
