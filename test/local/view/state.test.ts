import { describe, expect, it } from "vitest";
import type { Occurrence } from "../../../lib/core/occurrence.ts";
import { createView, nextFiringOf, type View } from "../../../lib/local/view/state.ts";
import { attempted, noon, occurrence } from "./fixture.ts";

/** The view after a row went through `versions`, one after the other. */
function viewOf(...versions: Occurrence[]): View {
  const view = createView();
  for (const [index, row] of versions.entries()) view.putOccurrence(row, versions[index - 1]);
  return view;
}

describe("the live view's state", () => {
  it("takes the next firing from the chain's heads", () => {
    const later = occurrence("hourly", { firing: "2026-11-29T13:00:00.000Z", scheduledFor: noon(3_600_000) });
    const view = viewOf(occurrence("hourly"));
    view.putOccurrence(later, undefined);
    expect(nextFiringOf(view.state, "hourly")).toBe(noon());
    view.putOccurrence(
      occurrence("hourly", { status: "DISPATCHED", attempts: 1, fencingToken: 1 }),
      occurrence("hourly"),
    );
    expect(nextFiringOf(view.state, "hourly")).toBe(noon(3_600_000));
    view.removeOccurrence(later);
    expect(nextFiringOf(view.state, "hourly")).toBeUndefined();
    expect(nextFiringOf(view.state, "another")).toBeUndefined();
  });

  it("counts each end once, however often the row is written afterwards", () => {
    const done = attempted("hourly", { status: "SUCCEEDED" });
    const { state } = viewOf(occurrence("hourly"), done, { ...done, announcedAt: noon(20) });
    expect(state.ended).toEqual(new Map([["SUCCEEDED", 1]]));
  });

  it("keeps a dead letter until it is replayed, discarded, or its row is gone", () => {
    const dead = attempted("hourly", { status: "DEAD_LETTERED", deadLetteredAt: noon(20) });
    const view = viewOf(dead);
    expect(view.state.deadLetters.size).toBe(1);
    view.removeOccurrence(dead);
    expect(view.state.deadLetters.size).toBe(0);
    expect(viewOf(dead, attempted("hourly", { status: "PENDING", attempts: 0 })).state.deadLetters.size).toBe(0);
    expect(viewOf(dead, attempted("hourly", { status: "DEAD_LETTERED" })).state.deadLetters.size).toBe(0);
  });

  it("notes how late the first attempt started, and later ones not", () => {
    const first = attempted("hourly", { status: "RUNNING" });
    const second = { ...first, log: [...first.log, { token: 2, attempt: 2, startedAt: noon(5_000) }] };
    expect(viewOf(occurrence("hourly"), first, { ...first }, second).state.latenessMs).toEqual([12]);
  });

  it("counts no backfill of an instant long past as late", () => {
    const backfill = occurrence("hourly", { kind: "backfill" });
    const { state } = viewOf(backfill, attempted("hourly", { kind: "backfill", status: "RUNNING" }));
    expect(state.latenessMs).toEqual([]);
  });

  it("remembers a bounded number of runs, the newest", () => {
    const rows = Array.from({ length: 150 }, (_, index) =>
      attempted("busy", { firing: `run ${index}`, status: "SUCCEEDED" }),
    );
    const view = createView();
    for (const row of rows) view.putOccurrence(row, undefined);
    const shown = [...view.state.recent.values()].map(({ firing }) => firing);
    expect(shown).toEqual(rows.slice(50).map(({ firing }) => firing));
    expect(view.state.ended.get("SUCCEEDED")).toBe(150);
  });

  it("lists no run that has not begun", () => {
    expect(viewOf(occurrence("hourly")).state.recent.size).toBe(0);
  });
});
