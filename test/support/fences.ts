import { expect, it } from "vitest";
import { plusMs } from "../../lib/core/instant.ts";
import type { JobContext } from "../../lib/jobs/types.ts";
import { contextAt } from "./job-context.ts";
import { NOON } from "./occurrences.ts";

type Fence = Pick<JobContext, "occurrence" | "fencingToken">;

/** A store that keeps one text by id, behind a fence. */
export interface FencedStore {
  write(id: string, text: string, fence: Fence): Promise<boolean>;
  read(id: string): Promise<string | undefined>;
}

const noon = (token: number): Fence => contextAt("nightly", NOON, token);
const later = (token: number): Fence => contextAt("nightly", plusMs(NOON, 3_600_000), token);

/** What a write behind the fence (scheduledFor, token) promises, whatever the store. `open` may skip a test. */
export function fencedStoreContract(open: (skip: (why: string) => void) => Promise<FencedStore>): void {
  it("refuses a stale worker of the same run, and takes a repeat of the newest", async ({ skip }) => {
    const { write, read } = await open(skip);
    expect(await write("same-run", "second attempt", noon(2))).toBe(true);
    expect(await write("same-run", "first attempt, woken up", noon(1))).toBe(false);
    expect(await read("same-run")).toBe("second attempt");
    expect(await write("same-run", "second attempt, once more", noon(2))).toBe(true);
    expect(await read("same-run")).toBe("second attempt, once more");
  });

  it("lets a later run write over an earlier one, whatever their tokens, and never the other way round", async ({
    skip,
  }) => {
    const { write, read } = await open(skip);
    expect(await write("two-runs", "noon, third attempt", noon(3))).toBe(true);
    expect(await write("two-runs", "one o'clock, first attempt", later(1))).toBe(true);
    expect(await write("two-runs", "noon, fourth attempt", noon(4))).toBe(false);
    expect(await read("two-runs")).toBe("one o'clock, first attempt");
  });

  it("ends with the newest of all that write at once", async ({ skip }) => {
    const { write, read } = await open(skip);
    const fences = [noon(2), later(3), noon(9), later(1), later(2), noon(1)];
    await Promise.all(fences.map((fence) => write("race", `${fence.occurrence.firing} ${fence.fencingToken}`, fence)));
    expect(await read("race")).toBe(`${later(3).occurrence.firing} 3`);
  });
}
