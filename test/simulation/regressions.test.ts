import { beforeAll, expect, test } from "vitest";
import { loadSimulation } from "./bundle.ts";
import type { Simulation } from "./simulation.ts";

let simulation: Simulation;

beforeAll(async () => {
  simulation = await loadSimulation("regressions");
});

test("stops a job when its lease ends, also while a renewal is still unanswered", async () => {
  // The consumer starts its job and is cut off: the renewal that is under way when the lease ends hears nothing for seconds.
  let first: string | undefined;
  const { report } = await simulation.play({
    name: "a consumer that is cut off at work",
    behaviour: { ms: 45_000 },
    isLost: ({ process, name }) => {
      if (!process.startsWith("consumer-default#")) return false;
      if (first !== undefined) return process === first;
      if (name === "write") first = process;
      return false;
    },
  });
  expect(report ?? "held").toBe("held");
});

test("starts a run at once where the request of its start was lost, instead of leaving it to the queue's lease", async () => {
  let lost = 0;
  const { points, report } = await simulation.play({
    name: "a start that is lost",
    behaviour: { ms: 500 },
    isLost: ({ role, name }) => role === "consumer" && name === "write" && lost++ === 0,
  });
  expect(report ?? "held").toBe("held");
  const consumers = new Set(points.filter(({ role }) => role === "consumer").map(({ process }) => process));
  expect(consumers.size).toBe(1);
});
