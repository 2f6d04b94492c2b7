import { afterAll, beforeAll } from "vitest";
import { type FaultEngines, START_TIMEOUT_MS, startFaultEngines } from "../../support/faults/engines.ts";
import { answerFaults } from "./answers.faults.ts";
import { consumerFaults } from "./consumer.faults.ts";
import { dispatcherFaults } from "./dispatcher.faults.ts";
import { storeFaults } from "./store.faults.ts";
import { workerFaults } from "./worker.faults.ts";

// One server and one bundle for all of it: starting them costs more than the tests, which mostly wait, and so run side by side.
let started: FaultEngines;
beforeAll(async () => {
  started = await startFaultEngines();
}, START_TIMEOUT_MS);
afterAll(() => started.close());

const engines = (): FaultEngines => started;
dispatcherFaults(engines);
consumerFaults(engines);
storeFaults(engines);
answerFaults(engines);
workerFaults(engines);
