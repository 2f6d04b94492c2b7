import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { outcomeOf, PermanentError, RETRY_AFTER_MAX_SECONDS, RetryableError } from "../../lib/jobs/outcomes.ts";

describe("what a thrown value asks for", () => {
  it("is another attempt, no sooner than asked, for a RetryableError", () => {
    expect(outcomeOf(new RetryableError("busy", { retryAfterSeconds: 90 }))).toEqual({
      kind: "retryable",
      retryAfterSeconds: 90,
    });
    expect(outcomeOf(new RetryableError("busy"))).toEqual({ kind: "retryable" });
  });

  it("is the end for a PermanentError", () => {
    expect(outcomeOf(new PermanentError("no such customer"))).toEqual({ kind: "permanent" });
  });

  it.each([new Error("x"), "x", undefined, null, 0, {}])("is another attempt for anything else: %s", (thrown) => {
    expect(outcomeOf(thrown)).toEqual({ kind: "retryable" });
  });

  it("is known across bundles and realms", () => {
    const foreign: unknown = runInNewContext(
      "Object.assign(new Error('gone'), { [Symbol.for('punctual.outcome')]: 'permanent' })",
    );
    expect(foreign).not.toBeInstanceOf(PermanentError);
    expect(outcomeOf(foreign)).toEqual({ kind: "permanent" });
  });

  it.each([Number.NaN, -1, Number.NEGATIVE_INFINITY])("takes a retryAfterSeconds of %s for none", (seconds) => {
    expect(outcomeOf(new RetryableError("busy", { retryAfterSeconds: seconds }))).toEqual({ kind: "retryable" });
  });

  it("cuts a wait that would never end", () => {
    expect(outcomeOf(new RetryableError("busy", { retryAfterSeconds: Number.POSITIVE_INFINITY }))).toEqual({
      kind: "retryable",
      retryAfterSeconds: RETRY_AFTER_MAX_SECONDS,
    });
  });

  it("is another attempt when the thrown object's getters throw", () => {
    const hostile = new Proxy(new Error("x"), {
      get: () => {
        throw new Error("gotcha");
      },
    });
    expect(outcomeOf(hostile)).toEqual({ kind: "retryable" });
  });
});

describe("the errors a job throws", () => {
  it("carry name, message, cause and a stable code", () => {
    const cause = new Error("socket closed");
    expect(new RetryableError("busy", { cause })).toMatchObject({
      name: "RetryableError",
      code: "Retryable",
      message: "busy",
      cause,
    });
    expect(new PermanentError("bad", { cause })).toMatchObject({ name: "PermanentError", code: "Permanent", cause });
  });
});
