import type { DeployedJob, JobHandler } from "../types.ts";
import { createEventJob } from "./event.ts";
import { createHttpJob } from "./http/job.ts";
import { createLambdaJob } from "./lambda.ts";
import { logJob } from "./log.ts";

/**
 * The built-in jobs by name, to be spread into a project's own: `log`, `http`, `event` and `lambda`. What they may reach is the
 * deployment's to say (`httpAllowedHosts`, `eventJobSource`, `lambdaFunctions`); by default it is nothing.
 */
export const builtin: Readonly<Record<"log", JobHandler> & Record<"http" | "event" | "lambda", DeployedJob>> = {
  log: logJob,
  http: { deploy: ({ allowed }) => createHttpJob({ allow: allowed.httpAllowedHosts }) },
  event: {
    deploy: ({ allowed: { eventJobSource }, services }) =>
      createEventJob(eventJobSource === undefined ? undefined : services.eventBus(eventJobSource)),
  },
  lambda: {
    deploy: ({ allowed, services }) =>
      createLambdaJob({ allowed: allowed.lambdaFunctions, functions: services.functions }),
  },
};
