import { describe, expect, it } from "vitest";
import { type Delivery, deliver } from "../../../lib/local/event-sources/stream-batch.ts";
import type { ShardRecord } from "../../../lib/local/event-sources/stream-event.ts";

const records = (...ids: string[]): ShardRecord[] => ids.map((sequenceNumber) => ({ sequenceNumber, record: {} }));
const idsOf = (batch: readonly ShardRecord[]): string => batch.map(({ sequenceNumber }) => sequenceNumber).join("");

/** Delivers to a function that answers by `behave`, and notes what it was handed and what was given up. */
async function delivered(
  batch: ShardRecord[],
  behave: (ids: string, invocation: number) => string | "throws" | undefined,
  options: Partial<Delivery> = {},
) {
  const handed: string[] = [];
  const givenUp: [string, number][] = [];
  const delivery: Delivery = {
    maxRetries: 0,
    bisect: false,
    reportsItemFailures: true,
    invoke: async (part) => {
      handed.push(idsOf(part));
      const failed = behave(idsOf(part), handed.length);
      if (failed === "throws") return undefined;
      return { answer: { batchItemFailures: failed === undefined ? [] : [{ itemIdentifier: failed }] } };
    },
    giveUp: async (part, tries) => void givenUp.push([idsOf(part), tries]),
    ...options,
  };
  const complete = await deliver(batch, delivery, new AbortController().signal);
  return { complete, handed, givenUp };
}

describe("a batch of stream records", () => {
  it("is handed over once when all goes well", async () => {
    const result = await delivered(records("a", "b"), () => undefined);
    expect(result).toEqual({ complete: true, handed: ["ab"], givenUp: [] });
  });

  it("is not handed over when it is empty", async () => {
    expect((await delivered([], () => "throws")).handed).toEqual([]);
  });

  it("goes on from the first record that failed", async () => {
    const result = await delivered(records("a", "b", "c", "d"), (_, n) => (n === 1 ? "c" : undefined), {
      maxRetries: 1,
    });
    expect(result).toEqual({ complete: true, handed: ["abcd", "cd"], givenUp: [] });
  });

  it("is halved to close in on the record that fails, which alone is given up after its retries", async () => {
    const poisoned = (ids: string) => (ids.includes("c") ? "throws" : undefined);
    const result = await delivered(records("a", "b", "c", "d"), poisoned, { bisect: true, maxRetries: 1 });
    expect(result.handed).toEqual(["abcd", "ab", "cd", "c", "c", "d"]);
    expect(result.givenUp).toEqual([["c", 2]]);
  });

  it("spares what comes after a record that keeps being reported", async () => {
    const poisoned = (ids: string) => (ids.includes("b") ? "b" : undefined);
    const result = await delivered(records("a", "b", "c"), poisoned, { bisect: true, maxRetries: 1 });
    expect(result.handed).toEqual(["abc", "bc", "b", "c"]);
    expect(result.givenUp).toEqual([["b", 2]]);
  });

  it("is given up as a whole when it is not to be halved", async () => {
    const result = await delivered(records("a", "b"), () => "throws", { maxRetries: 2 });
    expect(result).toEqual({ complete: true, handed: ["ab", "ab", "ab"], givenUp: [["ab", 3]] });
  });

  it("counts as processed whatever the answer, when answers do not count", async () => {
    expect(await delivered(records("a"), () => "a", { reportsItemFailures: false })).toMatchObject({
      handed: ["a"],
      givenUp: [],
    });
  });

  it("is left for later when the engine stops in between", async () => {
    const stopping = new AbortController();
    const delivery: Delivery = {
      maxRetries: 5,
      bisect: false,
      reportsItemFailures: true,
      invoke: async () => {
        stopping.abort();
        return undefined;
      },
      giveUp: async () => {},
    };
    expect(await deliver(records("a"), delivery, stopping.signal)).toBe(false);
  });
});
