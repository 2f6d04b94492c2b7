import { describe, expect, it } from "vitest";
import type { Occurrence } from "../../../lib/core/occurrence.ts";
import {
  emptyView,
  nextFiringOf,
  type ViewState,
  withOccurrence,
  withoutOccurrence,
} from "../../../lib/local/view/state.ts";
import { attempted, noon, occurrence } from "./fixture.ts";

/** The view after a row went through `versions`, one after the other. */
const viewOf = (...versions: Occurrence[]): ViewState =>
  versions.reduce((state, row, index) => withOccurrence(state, row, versions[index - 1]), emptyView);

describe("the live view's state", () => {
  it("takes the next firing from the chain's heads", () => {
    const later = occurrence("hourly", { firing: "2026-11-29T13:00:00.000Z", scheduledFor: noon(3_600_000) });
    const both = withOccurrence(viewOf(occurrence("hourly")), later, undefined);
    expect(nextFiringOf(both, "hourly")).toBe(noon());
    const claimed = occurrence("hourly", { status: "DISPATCHED", attempts: 1, fencingToken: 1 });
    expect(nextFiringOf(withOccurrence(both, claimed, occurrence("hourly")), "hourly")).toBe(noon(3_600_000));
    expect(nextFiringOf(withoutOccurrence(viewOf(later), later), "hourly")).toBeUndefined();
    expect(nextFiringOf(both, "another")).toBeUndefined();
  });

  it("counts each end once, however often the row is written afterwards", () => {
    const done = attempted("hourly", { status: "SUCCEEDED" });
    expect(viewOf(occurrence("hourly"), done, { ...done, announcedAt: noon(20) }).ended).toEqual(
      new Map([["SUCCEEDED", 1]]),
    );
  });

  it("keeps a dead letter until it is replayed or its row is gone", () => {
    const dead = attempted("hourly", { status: "DEAD_LETTERED" });
    expect(viewOf(dead).deadLetters.size).toBe(1);
    expect(viewOf(dead, attempted("hourly", { status: "PENDING", attempts: 0 })).deadLetters.size).toBe(0);
    expect(withoutOccurrence(viewOf(dead), dead).deadLetters.size).toBe(0);
  });

  it("notes how late the first attempt started, and later ones not", () => {
    const first = attempted("hourly", { status: "RUNNING" });
    const second = { ...first, log: [...first.log, { token: 2, attempt: 2, startedAt: noon(5_000) }] };
    expect(viewOf(occurrence("hourly"), first, second).latenessMs).toEqual([12]);
  });

  it("remembers a bounded number of runs, the newest", () => {
    const rows = Array.from({ length: 150 }, (_, index) =>
      attempted("busy", { firing: `run ${index}`, status: "SUCCEEDED" }),
    );
    const state = rows.reduce<ViewState>((view, row) => withOccurrence(view, row, undefined), emptyView);
    expect([...state.recent.values()].map(({ firing }) => firing)).toEqual(rows.slice(50).map(({ firing }) => firing));
    expect(state.ended.get("SUCCEEDED")).toBe(150);
  });

  it("lists no run that has not begun", () => {
    expect(viewOf(occurrence("hourly")).recent.size).toBe(0);
  });
});
