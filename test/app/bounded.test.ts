import { describe, expect, it } from "vitest";
import { mapBounded } from "../../lib/app/bounded.ts";

describe("work in parallel", () => {
  it("runs no more at a time than its limit, and answers in the items' order", async () => {
    const finish: (() => void)[] = [];
    let running = 0;
    let most = 0;
    const done = mapBounded([1, 2, 3, 4, 5], 2, async (item) => {
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
    const work = mapBounded([1, 2], 1, async () => {
      throw new Error("broken");
    });
    await expect(work).rejects.toThrow("broken");
  });
});
