import { expect, it } from "vitest";
import { pause } from "../../lib/runtime/pause.ts";

it("does not end at once for being longer than Node's timers reach (F290)", async () => {
  const stop = new AbortController();
  const ends = [pause(2 ** 31 + 1, stop.signal).then(() => "a month"), pause(50).then(() => "a moment")];
  expect(await Promise.race(ends)).toBe("a moment");
  stop.abort();
  expect(await ends[0]).toBe("a month");
});
