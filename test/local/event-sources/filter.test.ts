import { describe, expect, it } from "vitest";
import { matches, parsePattern } from "../../../lib/local/event-sources/filter.ts";

const record = (eventName: string, oldStatus?: string, newStatus?: string) => ({
  eventName,
  dynamodb: {
    ...(oldStatus && { OldImage: { status: { S: oldStatus }, tags: { SS: ["a", "b"] } } }),
    ...(newStatus && { NewImage: { status: { S: newStatus }, tags: { SS: ["a", "b"] } } }),
  },
});

const passes = (pattern: unknown, event: unknown): boolean => matches(parsePattern(JSON.stringify(pattern)), event);

describe("a filter pattern", () => {
  it("passes what equals one of its values", () => {
    const pattern = { eventName: ["INSERT"], dynamodb: { NewImage: { status: { S: ["DONE", "FAILED"] } } } };
    expect(passes(pattern, record("INSERT", undefined, "FAILED"))).toBe(true);
    expect(passes(pattern, record("INSERT", undefined, "PENDING"))).toBe(false);
    expect(passes(pattern, record("MODIFY", undefined, "FAILED"))).toBe(false);
    expect(passes(pattern, record("INSERT"))).toBe(false);
  });

  it("tells a string from a number and null from absence", () => {
    expect(passes({ a: [1] }, { a: 1 })).toBe(true);
    expect(passes({ a: [1] }, { a: "1" })).toBe(false);
    expect(passes({ a: [null] }, { a: null })).toBe(true);
    expect(passes({ a: [null] }, {})).toBe(false);
  });

  it("passes by existence and by absence, also of everything above", () => {
    const absent = { dynamodb: { OldImage: { status: { S: [{ exists: false }] } } } };
    expect(passes(absent, record("INSERT", undefined, "DONE"))).toBe(true);
    expect(passes(absent, record("MODIFY", "DONE", "DONE"))).toBe(false);
    expect(passes({ dynamodb: { NewImage: { status: { S: [{ exists: true }] } } } }, record("REMOVE", "DONE"))).toBe(
      false,
    );
  });

  it("passes by prefix", () => {
    expect(passes({ id: [{ prefix: "tenant-" }] }, { id: "tenant-7" })).toBe(true);
    expect(passes({ id: [{ prefix: "tenant-" }] }, { id: "other" })).toBe(false);
    expect(passes({ id: [{ prefix: "7" }] }, { id: 7 })).toBe(false);
  });

  it("passes anything but the values named, and never an absent one", () => {
    const pattern = { dynamodb: { OldImage: { status: { S: [{ "anything-but": ["DONE", "FAILED"] }] } } } };
    expect(passes(pattern, record("MODIFY", "RUNNING"))).toBe(true);
    expect(passes(pattern, record("MODIFY", "DONE"))).toBe(false);
    expect(passes(pattern, record("INSERT"))).toBe(false);
    expect(passes({ a: [{ "anything-but": "x" }] }, { a: "y" })).toBe(true);
  });

  it("passes a list of which one element fits", () => {
    expect(passes({ dynamodb: { NewImage: { tags: { SS: ["b"] } } } }, record("INSERT", undefined, "DONE"))).toBe(true);
    expect(passes({ dynamodb: { NewImage: { tags: { SS: ["c"] } } } }, record("INSERT", undefined, "DONE"))).toBe(
      false,
    );
  });

  it("is refused when it uses a rule that is not imitated", () => {
    expect(() => parsePattern('{"a":[{"numeric":["=",1]}]}')).toThrow(
      'filter pattern must use equality, exists, prefix or anything-but, got {"a":[{"numeric":["=",1]}]}',
    );
  });
});
