import { describe, expect, it } from "vitest";
import { failedItems } from "../../../lib/local/event-sources/batch-response.ts";

const batch = ["a", "b", "c"];

describe("a function's answer to a batch", () => {
  it.each([[undefined], [null], [{}], [{ batchItemFailures: null }], [{ batchItemFailures: [] }]])(
    "is a success when it is %j",
    (answer) => {
      expect(failedItems(answer, batch)).toEqual(new Set());
    },
  );

  it("names what failed", () => {
    expect(failedItems({ batchItemFailures: [{ itemIdentifier: "b" }] }, batch)).toEqual(new Set(["b"]));
  });

  it.each([
    ["malformed", { batchItemFailures: [{ id: "b" }] }],
    ["no object", "ok"],
    ["about something else", { batchItemFailures: [{ itemIdentifier: "z" }] }],
    ["an empty identifier", { batchItemFailures: [{ itemIdentifier: "" }] }],
  ])("fails the whole batch when it is %s", (_, answer) => {
    expect(failedItems(answer, batch)).toEqual(new Set(batch));
  });
});
