import { beforeAll, describe, expect, it } from "vitest";
import { loadWithOtherRelease } from "./bundle.ts";
import type { Simulation } from "./simulation.ts";

let simulation: Simulation;

beforeAll(async () => {
  simulation = await loadWithOtherRelease("releases");
});

describe("two releases side by side", () => {
  it("hold every invariant, there and back", async () => {
    for (const scenario of simulation.releaseScenarios)
      expect((await simulation.play(scenario)).report ?? "held", scenario.name).toBe("held");
  });

  it("would lose firings if versions that were hashed otherwise counted as other times", async () => {
    const marks = { file: "lib/core/schedule-version.ts", find: "!areHashedAlike(left, right) || ", replace: "" };
    const careless = await loadWithOtherRelease("releases-careless", [marks]);
    const reports = [];
    for (const scenario of careless.releaseScenarios) reports.push((await careless.play(scenario)).report ?? "held");
    expect(reports.join("\n")).toContain('breaks "no instant is absent"');
  });
});
