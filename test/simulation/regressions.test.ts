import { beforeAll, expect, test } from "vitest";
import { loadSimulation } from "./bundle.ts";
import type { Simulation } from "./simulation.ts";

const LOST = { kind: "request-lost" } as const;
let simulation: Simulation;

beforeAll(async () => {
  simulation = await loadSimulation("regressions");
});

test("stops a job when its lease ends, also while a renewal is still unanswered", async () => {
  // The consumer starts its job and is cut off: the renewal that is under way when the lease ends hears nothing for seconds.
  const { report } = await simulation.play({
    name: "a consumer that is cut off at work",
    behaviour: { ms: 45_000 },
    troubles: () => {
      let first: string | undefined;
      return ({ process, role, name }) => {
        if (process === first) return LOST;
        if (role === "consumer" && name === "write") first ??= process;
        return undefined;
      };
    },
  });
  expect(report ?? "held").toBe("held");
});

test("starts a run at once where the request of its start was lost, instead of leaving it to the queue's lease", async () => {
  const { points, report } = await simulation.play({
    name: "a start that is lost",
    behaviour: { ms: 500 },
    troubles: () => {
      let writes = 0;
      return ({ role, name }) => (role === "consumer" && name === "write" && writes++ === 0 ? LOST : undefined);
    },
  });
  expect(report ?? "held").toBe("held");
  const consumers = new Set(points.filter(({ role }) => role === "consumer").map(({ process }) => process));
  expect(consumers.size).toBe(1);
});
