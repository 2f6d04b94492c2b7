import { defineConfig } from "vitest/config";

// One project a kind of test, one after the other, so that the heavy ones do not slow the quick ones down and a person can
// run those alone: `npx vitest run --project unit`. The limits are for a busy machine; what hangs ends all the same.
const project = (groupOrder: number, name: string, include: string[], testTimeoutMs: number) => ({
  test: { name, include, testTimeout: testTimeoutMs, hookTimeout: testTimeoutMs, sequence: { groupOrder } },
});

/** Tests that put other modules in place of real ones, so that each file needs its own. */
const MOCKING = ["test/functions/**/*.test.ts", "test/jobs/create-{consumer,worker}.test.ts"];

export default defineConfig({
  test: {
    env: { AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true" },
    projects: [
      {
        test: {
          ...project(
            0,
            "unit",
            ["test/{core,app,adapters,jobs,client,cli,local,construct,runtime,structure}/**/*.test.ts"],
            20_000,
          ).test,
          exclude: MOCKING,
          // What is loaded once serves all: loading takes longer than most of these tests.
          isolate: false,
          pool: "threads",
        },
      },
      project(0, "functions", MOCKING, 20_000),
      project(1, "contract", ["test/contracts/**/*.test.ts"], 60_000),
      project(2, "integration", ["test/{integration,examples}/**/*.test.ts"], 120_000),
      // Nothing but arithmetic, and the longest of all: on every core.
      { test: { ...project(3, "simulation", ["test/simulation/**/*.test.ts"], 300_000).test, maxWorkers: "100%" } },
    ],
  },
});
