import { runInNewContext } from "node:vm";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { acceptableText, boundedText, isAcceptableText } from "../../lib/core/plain-text.ts";
import {
  ERROR_MESSAGE_MAX_CHARACTERS,
  ERROR_NAME_MAX_CHARACTERS,
  recordedError,
} from "../../lib/core/recorded-error.ts";

describe("a thrown value, recorded", () => {
  it("keeps an error's name and message", () => {
    expect(recordedError(new TypeError("no such host"))).toEqual({ name: "TypeError", message: "no such host" });
  });

  it("knows an error of another realm", () => {
    expect(recordedError(runInNewContext("new RangeError('far away')"))).toEqual({
      name: "RangeError",
      message: "far away",
    });
  });

  it.each([
    ["boom", "boom"],
    [undefined, "undefined was thrown"],
    [null, "null was thrown"],
    [42, "42 was thrown"],
    [Symbol("odd"), "Symbol(odd) was thrown"],
    [{ status: 500 }, '{"status":500}'],
    [() => 1, "() => 1 was thrown"],
    [{ huge: 1n }, "an object was thrown that cannot be written as JSON"],
  ])("tells of %s, which is no error", (thrown, message) => {
    expect(recordedError(thrown)).toEqual({ name: "NonError", message });
  });

  it("survives getters and proxies that throw in their turn", () => {
    const hostile = Object.defineProperty({}, "message", {
      enumerable: true,
      get: () => {
        throw new Error("gotcha");
      },
    });
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    expect(recordedError(hostile).name).toBe("NonError");
    expect(recordedError(proxy).name).toBe("NonError");
  });

  it("tells the causes shortly, and ends where they form a ring", () => {
    const inner = new Error("connection reset");
    const outer = new Error("could not charge", { cause: inner });
    expect(recordedError(outer).message).toBe("could not charge; caused by Error: connection reset");
    inner.cause = outer;
    expect(recordedError(outer).message.match(/caused by/g)).toHaveLength(3);
  });

  it("finds the reason of a refused connection, whose own message is empty", () => {
    const refused = Object.assign(new AggregateError([new Error("connect ECONNREFUSED ::1:80")]), {
      code: "ECONNREFUSED",
    });
    expect(recordedError(new TypeError("fetch failed", { cause: refused })).message).toBe(
      "fetch failed; caused by AggregateError: connect ECONNREFUSED ::1:80",
    );
    expect(recordedError(Object.assign(new Error(""), { code: "EPIPE" })).message).toBe("EPIPE");
  });

  it("is bounded and holds only what queue and table accept, whatever is thrown", () => {
    const text = fc.string({ unit: "binary", maxLength: 3_000 });
    fc.assert(
      fc.property(fc.anything(), text, text, (cause, name, message) => {
        for (const thrown of [cause, Object.assign(new Error(message, { cause }), { name })]) {
          const recorded = recordedError(thrown);
          expect(recorded.name.length).toBeLessThanOrEqual(ERROR_NAME_MAX_CHARACTERS);
          expect(recorded.message.length).toBeLessThanOrEqual(ERROR_MESSAGE_MAX_CHARACTERS);
          expect(isAcceptableText(recorded.name + recorded.message)).toBe(true);
        }
      }),
    );
  });
});

describe("text for queues and tables", () => {
  it("replaces control characters, noncharacters and lone surrogates", () => {
    expect(acceptableText("a\u0000b\uFFFEc\uD800d\uDC00\u{1F600}\t\n")).toBe(
      "a\uFFFDb\uFFFDc\uFFFDd\uFFFD\u{1F600}\t\n",
    );
  });

  it("is never cut inside a surrogate pair", () => {
    expect(boundedText("ab\u{1F600}cd", 5)).toBe("ab\u{1F600}…");
    expect(boundedText("ab\u{1F600}cd", 4)).toBe("ab…");
    expect(boundedText("abcd", 4)).toBe("abcd");
  });
});
