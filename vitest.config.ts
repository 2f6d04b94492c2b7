import { defineConfig } from "vitest/config";

// One project a kind of test, each with its own time budget, so that a person can run the quick ones alone:
// `npx vitest run --project unit`.
const project = (name: string, include: string[], testTimeoutMs: number) => ({
  test: { name, include, testTimeout: testTimeoutMs, hookTimeout: testTimeoutMs },
});

export default defineConfig({
  test: {
    env: { AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true" },
    projects: [
      project(
        "unit",
        ["test/{core,app,adapters,jobs,client,cli,local,construct,runtime,functions,structure}/**/*.test.ts"],
        5_000,
      ),
      project("contract", ["test/contracts/**/*.test.ts"], 20_000),
      project("integration", ["test/{integration,examples}/**/*.test.ts"], 60_000),
      project("simulation", ["test/simulation/**/*.test.ts"], 120_000),
    ],
  },
});
