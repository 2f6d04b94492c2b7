import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { chunked, waves } from "../../../lib/adapters/dynamodb/chunks.ts";

describe("waves", () => {
  it("have every item once, no key twice, and keep each key's order", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("a", "b", "c", "d")), (keys) => {
        const result = waves(keys, (key) => key);
        expect(result.flat().sort((left, right) => left - right)).toEqual(keys.map((_, index) => index));
        for (const wave of result) expect(new Set(wave.map((index) => keys[index])).size).toBe(wave.length);
        for (const key of new Set(keys)) {
          const order = result.flat().filter((index) => keys[index] === key);
          expect(order).toEqual([...order].sort((left, right) => left - right));
        }
      }),
    );
  });
});

it("cuts into pieces of at most a size", () => {
  expect(chunked([1, 2, 3, 4, 5], 2)).toEqual([[1, 2], [3, 4], [5]]);
  expect(chunked([], 2)).toEqual([]);
});
