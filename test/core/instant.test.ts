import { describe, expect, it } from "vitest";
import { fromIso, instant, isInstant, later, plusMs, toIso } from "../../lib/core/instant.ts";

describe("an instant", () => {
  it("is a whole number of milliseconds in ECMAScript's range, before 1970 too", () => {
    expect(instant(-1)).toBe(-1);
    expect(isInstant(8.64e15)).toBe(true);
    for (const wrong of [8.64e15 + 1, 0.5, Number.NaN, Number.POSITIVE_INFINITY])
      expect(() => instant(wrong)).toThrow(/must be whole milliseconds .*, got/);
    for (const wrong of ["0", null, undefined, 1n, new Date(0)]) expect(isInstant(wrong)).toBe(false);
  });

  it("moves by milliseconds, rounded to whole ones", () => {
    expect(plusMs(instant(1_000), -1_500)).toBe(-500);
    expect(plusMs(instant(0), 0.6)).toBe(1);
    expect(() => plusMs(instant(8.64e15), 1)).toThrow(RangeError);
  });

  it("is written and read in one form only", () => {
    expect(toIso(instant(Date.UTC(2026, 10, 29, 9)))).toBe("2026-11-29T09:00:00.000Z");
    expect(fromIso("2026-11-29T09:00:00.000Z")).toBe(Date.UTC(2026, 10, 29, 9));
    expect(fromIso(toIso(instant(-62_198_755_200_001)))).toBe(-62_198_755_200_001);
    for (const other of ["2026-11-29T09:00:00Z", "2026-11-29", "2026-02-30T00:00:00.000Z", "manual#x", ""])
      expect(fromIso(other)).toBeUndefined();
  });

  it("is later than another or the same", () => {
    expect(later(instant(1), instant(2))).toBe(2);
    expect(later(instant(2), instant(1))).toBe(2);
  });
});
