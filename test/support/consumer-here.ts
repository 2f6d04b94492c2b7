import { createConsumer } from "../../lib/jobs/create-consumer.ts";
import type { JobMap } from "../../lib/jobs/types.ts";
import type { MakeConsumer } from "../../lib/local/functions.ts";
import { overridesFor } from "../../lib/local/overrides.ts";

/** The consumer in this process, with jobs that a test can watch; `npm start` gives it processes of its own. */
export const consumerHere =
  (jobs: JobMap, print: (line: string) => void = () => {}): MakeConsumer =>
  ({ environment, endpoints }) => ({
    invoke: createConsumer(jobs, {
      ...overridesFor("consumer", endpoints, print),
      env: environment,
      exit: () => {
        throw new Error("a job ignored its signal and is still running");
      },
    }),
  });
