import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { chunked, inParallel, waves } from "../../../lib/adapters/dynamodb/parallel.ts";

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

describe("work in parallel", () => {
  it("runs no more at a time than its limit, and answers in the items' order", async () => {
    const finish: (() => void)[] = [];
    let running = 0;
    let most = 0;
    const done = inParallel([1, 2, 3, 4, 5], 2, async (item) => {
      running += 1;
      most = Math.max(most, running);
      await new Promise<void>((resolve) => finish.push(resolve));
      running -= 1;
      return item * 10;
    });
    for (let step = 0; step < 5; step += 1) {
      await Promise.resolve();
      finish.pop()?.();
      for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
    }
    expect(await done).toEqual([10, 20, 30, 40, 50]);
    expect(most).toBe(2);
  });

  it("fails where one piece of work fails", async () => {
    const work = inParallel([1, 2], 1, async () => {
      throw new Error("broken");
    });
    await expect(work).rejects.toThrow("broken");
  });
});
