import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  ForeignValue,
  fromPlain,
  itemFrom,
  plainItem,
  toPlain,
} from "../../../lib/adapters/dynamodb/attribute-value.ts";
import { DEFAULT_HISTORY_SECONDS } from "../../../lib/core/lease.ts";
import { parseSchedule } from "../../../lib/core/schedule.ts";

const limits = { queues: { default: { timeoutMaxSeconds: 60 } }, historySeconds: DEFAULT_HISTORY_SECONDS };
const zeroIsZero = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe("plain values", () => {
  it("come back as they went in", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(zeroIsZero(toPlain(fromPlain(value)))).toEqual(zeroIsZero(value));
      }),
    );
  });

  it("keep a key named __proto__ for what it is", () => {
    const value: unknown = JSON.parse('{"__proto__": {"a": 1}}');
    expect(JSON.stringify(toPlain(fromPlain(value)))).toBe('{"__proto__":{"a":1}}');
  });

  it("leave undefined members out, at every depth", () => {
    expect(itemFrom({ a: undefined, b: { c: undefined } })).toEqual({ b: { M: {} } });
  });
});

describe("stored numbers", () => {
  it.each([
    ["0", 0],
    ["-0.5", -0.5],
    ["1764417600000", 1_764_417_600_000],
    ["9007199254740991", 9_007_199_254_740_991],
    ["9007199254740992", 9_007_199_254_740_992],
    ["1000000000000000000000", 1e21],
    ["0.00000000000000000001", 1e-20],
    ["1E+125", 1e125],
    ["0.10000000000000001", undefined],
    ["9007199254740993", undefined],
    ["12345678901234567890", undefined],
    ["99999999999999999999999999999999999999", undefined],
  ])("%s", (text, expected) => {
    const value = toPlain({ N: text });
    if (expected === undefined) expect(value).toBeInstanceOf(ForeignValue);
    else expect(value).toBe(expected);
  });

  it("are plain exactly where they survive", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        // DynamoDB has no negative zero: adding 0 rids the expectation of it.
        expect(toPlain({ N: String(value) })).toBe(value + 0);
      }),
    );
  });
});

describe("values without a plain form", () => {
  const foreign: [string, AttributeValue][] = [
    ["a string set", { SS: ["b", "a"] }],
    ["a number set", { NS: ["1", "2"] }],
    ["a binary", { B: Uint8Array.of(1, 2) }],
    ["a binary set", { BS: [Uint8Array.of(1)] }],
    ["a number of too many digits", { N: "12345678901234567890" }],
  ];

  it.each(foreign)("%s goes back to the letter, also from deep inside", (_, stored) => {
    const item = { payload: { M: { list: { L: [stored] } } } };
    expect(itemFrom(plainItem(item))).toEqual(item);
  });

  it.each(foreign)("%s is a problem of the schedule, and of that attribute alone", (_, stored) => {
    for (const attribute of ["payload", "timezone", "retry", "tags", "timeoutSeconds", "enabled", "dst"]) {
      const item = { scheduleId: { S: "s" }, rate: { S: "1 hour" }, [attribute]: stored };
      const result = parseSchedule(plainItem(item), limits);
      const paths = result.kind === "invalid" ? result.problems.map(({ path }) => path.split(".")[0]) : [];
      expect([...new Set(paths)]).toEqual([attribute]);
    }
  });

  it("tells in a problem what it is", () => {
    const item = { scheduleId: { S: "s" }, rate: { S: "1 hour" }, timeoutSeconds: { N: "12345678901234567890" } };
    const result = parseSchedule(plainItem(item), limits);
    expect(result).toMatchObject({
      problems: [{ message: expect.stringContaining('got "a number beyond a double, 12345678901234567890"') }],
    });
  });
});
