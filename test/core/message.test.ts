import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeMessage, encodeMessage, MESSAGE_VERSION, messageOf } from "../../lib/core/message.ts";
import { isAcceptableText } from "../../lib/core/plain-text.ts";
import { anOccurrence } from "../support/occurrences.ts";
import { claimedRow } from "../support/transitions.ts";

const carrying = (payload: unknown) => messageOf(claimedRow({ payload: JSON.stringify(payload) }));
const problemsOf = (value: unknown) => {
  const decoded = decodeMessage(JSON.stringify(value));
  return decoded.kind === "malformed" ? decoded.problems : [];
};

describe("a message", () => {
  it("carries all that a consumer acts on", () => {
    expect(messageOf(claimedRow({ payload: '{"to":"you"}' }))).toEqual({
      version: 1,
      occurrenceId: anOccurrence().occurrenceId,
      scheduleId: "nightly",
      firing: "2026-11-29T12:00:00.000Z",
      kind: "scheduled",
      scheduledFor: "2026-11-29T12:00:00.000Z",
      job: "send",
      payload: { to: "you" },
      attempt: 1,
      maxAttempts: 10,
      fencingToken: 1,
      timeoutSeconds: 60,
      scheduleVersion: "0123456789abcdef",
    });
  });

  it("says so after a crash, and only then", () => {
    expect(messageOf(claimedRow({ suspect: true }))).toMatchObject({ suspect: true });
    expect(messageOf(claimedRow())).not.toHaveProperty("suspect");
  });

  it("comes back as it was sent, whatever the payload", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (payload) => {
        const message = carrying(payload);
        expect(decodeMessage(encodeMessage(message))).toEqual({ kind: "message", message });
      }),
      { examples: [[JSON.parse('{"__proto__":{}}')], [JSON.parse('{"a":[{"__proto__":1,"constructor":2}]}')]] },
    );
  });

  it("carries a payload that is no JSON as the text it is, and holds up no neighbour", () => {
    expect(messageOf(claimedRow({ payload: "{oops" }))).toMatchObject({ payload: "{oops" });
  });

  it("holds nothing that SQS refuses, and means the same", () => {
    for (const text of ["\uFFFE", "\uFFFF", "\uD800", "a\uDC00b", "\u{1F600}", "\u0000\u001F", "\u{10FFFF}"]) {
      const body = encodeMessage(carrying({ [text]: text }));
      expect(isAcceptableText(body)).toBe(true);
      expect(body).not.toMatch(/[\uD800-\uDFFF\uFFFE\uFFFF]/);
      expect(decodeMessage(body)).toMatchObject({ message: { payload: { [text]: text } } });
    }
    const text = fc.string({ unit: "binary" });
    fc.assert(fc.property(text, (payload) => isAcceptableText(encodeMessage(carrying(payload)))));
  });
});

describe("a body that cannot be read", () => {
  it.each(["", "{", "undefined", "not json", "\u0000"])("says that %j is no JSON", (body) => {
    expect(decodeMessage(body)).toMatchObject({
      kind: "malformed",
      problems: [{ path: "", message: expect.stringMatching(/^must be JSON: /) }],
    });
  });

  it.each([[null], [[]], [1], ["text"]])("is %j", (value) => {
    expect(problemsOf(value).length).toBeGreaterThan(0);
  });

  it("is malformed, and no exception, however deep it nests", () => {
    const deep = `${"[".repeat(50_000)}${"]".repeat(50_000)}`;
    expect(decodeMessage(deep).kind).toBe("malformed");
    expect(decodeMessage(JSON.stringify(carrying(1)).replace('"payload":1', `"payload":${deep}`)).kind).toBe(
      "malformed",
    );
  });

  it("names every member that is missing or wrong, and what it got", () => {
    const { job: _, ...rest } = carrying(1);
    expect(problemsOf({ ...rest, occurrenceId: "x", fencingToken: -1, attempt: "1", kind: "odd" })).toEqual(
      expect.arrayContaining([
        { path: "occurrenceId", message: 'must be a UUID, got "x"' },
        { path: "fencingToken", message: "must not be negative, got -1" },
        { path: "attempt", message: 'must be a whole number, got "1"' },
        { path: "kind", message: 'must be one of scheduled, backfill, manual, got "odd"' },
        { path: "job", message: "must be text, got nothing" },
      ]),
    );
  });

  it("is one of a version that this build does not know", () => {
    expect(problemsOf({ ...carrying(1), version: MESSAGE_VERSION + 1 })).toEqual([
      { path: "version", message: "must be 1, got 2" },
    ]);
  });

  it("is not one with members that this build does not know", () => {
    expect(problemsOf({ ...carrying(1), added: "later" })).toEqual([]);
  });
});
