import { describe, expect, it } from "vitest";
import { once } from "../../lib/runtime/once.ts";

describe("what is made once", () => {
  it("is made at the first call and never again, though it be nothing (F302)", () => {
    for (const value of [{}, undefined, null, 0]) {
      let calls = 0;
      const get = once(() => {
        calls += 1;
        return value;
      });
      expect(calls).toBe(0);
      expect(get()).toBe(value);
      expect(get()).toBe(value);
      expect(calls).toBe(1);
    }
  });

  it("is tried again after a failure: a cold start that failed has made nothing", () => {
    let calls = 0;
    const get = once(() => {
      calls += 1;
      if (calls === 1) throw new Error("not yet");
      return calls;
    });
    expect(get).toThrow("not yet");
    expect(get()).toBe(2);
    expect(get()).toBe(2);
  });
});
