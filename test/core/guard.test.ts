import { describe, expect, it } from "vitest";
import {
  attemptsBelow,
  type Clause,
  dueAtIs,
  type GuardedAttribute,
  guardHolds,
  leaseUntilAtMost,
  ownerIs,
  statusIn,
  statusIs,
  tokenIs,
  versionIs,
} from "../../lib/core/guard.ts";

const row = {
  status: "DISPATCHED",
  fencingToken: 2,
  owner: "me",
  dueAt: 1_000,
  leaseUntil: 1_000,
  attempts: 1,
  scheduleVersion: "v1",
  kind: "scheduled",
};

describe("a guard", () => {
  it.each<[string, Clause, Clause]>([
    ["status", statusIs("DISPATCHED"), statusIs("RUNNING")],
    ["one of several states", statusIn(["RUNNING", "DISPATCHED"]), statusIn(["RUNNING", "PENDING"])],
    ["token", tokenIs(2), tokenIs(1)],
    ["owner", ownerIs("me"), ownerIs("you")],
    ["due time", dueAtIs(1_000), dueAtIs(999)],
    ["lease", leaseUntilAtMost(1_000), leaseUntilAtMost(999)],
    ["attempts left", attemptsBelow(2), attemptsBelow(1)],
    ["version", versionIs("v1"), versionIs("v2")],
  ])("holds by %s, or does not", (_, holds, fails) => {
    expect(guardHolds([holds], row)).toBe(true);
    expect(guardHolds([fails], row)).toBe(false);
  });

  it("holds only if all of it does", () => {
    expect(guardHolds([statusIs("DISPATCHED"), tokenIs(2)], row)).toBe(true);
    expect(guardHolds([statusIs("DISPATCHED"), tokenIs(3)], row)).toBe(false);
    expect(guardHolds([statusIs("RUNNING"), tokenIs(2)], row)).toBe(false);
  });

  it("never holds of a row that does not exist, not even an empty one", () => {
    expect(guardHolds([], undefined)).toBe(false);
  });

  it("is false of an attribute that the row lacks, whatever it compares", () => {
    const attribute: GuardedAttribute = "deadLetteredAt";
    const clauses: Clause[] = [
      { attribute, op: "=", value: 0 },
      { attribute, op: "<", value: Number.MAX_SAFE_INTEGER },
      { attribute, op: "<=", value: Number.MAX_SAFE_INTEGER },
      { attribute, op: "in", values: ["", "undefined"] },
    ];
    for (const clause of clauses) expect(guardHolds([clause], row)).toBe(false);
  });

  it("does not take text for a number, or a number for text", () => {
    expect(guardHolds([tokenIs(2)], { ...row, fencingToken: "2" })).toBe(false);
    expect(guardHolds([attemptsBelow(2)], { ...row, attempts: "1" })).toBe(false);
    expect(guardHolds([{ attribute: "fencingToken", op: "in", values: ["2"] }], row)).toBe(false);
  });
});
