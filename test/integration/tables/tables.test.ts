import { afterAll, beforeAll, vi } from "vitest";
import { BUSY_TIMEOUT_MS, type LocalWorld, START_TIMEOUT_MS, startLocalWorld } from "../../support/local-world.ts";
import { documentedItems } from "./documented.cases.ts";
import { rawItems, throwingJobs } from "./raw-items.cases.ts";
import { realWorldSchedules } from "./real-world.cases.ts";

vi.setConfig({ testTimeout: BUSY_TIMEOUT_MS });

// One scheduler for all of it; every test has schedules of its own.
let world: LocalWorld;
beforeAll(async () => {
  world = await startLocalWorld(throwingJobs);
}, START_TIMEOUT_MS);
afterAll(() => world.close());

rawItems(() => world);
documentedItems(() => world);
realWorldSchedules(() => world);
