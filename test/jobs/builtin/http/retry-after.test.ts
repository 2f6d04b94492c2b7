import { describe, expect, it } from "vitest";
import { retryAfterSeconds } from "../../../../lib/jobs/builtin/http/retry-after.ts";

describe("a Retry-After header", () => {
  const nowMs = Date.parse("2026-11-29T09:00:00.400Z");

  it.each([
    ["120", 120],
    ["0", 0],
    ["Sun, 29 Nov 2026 09:01:00 GMT", 60],
    ["Sun, 29 Nov 2026 08:00:00 GMT", 0],
    ["soon", undefined],
    ["-5 minutes", undefined],
    [undefined, undefined],
  ])("of %j asks for %j seconds", (header, seconds) => {
    expect(retryAfterSeconds(header, nowMs)).toBe(seconds);
  });
});
