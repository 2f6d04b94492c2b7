import type { EventBus } from "../../app/ports.ts";
import type { JobMap } from "../types.ts";
import { createEventJob } from "./event.ts";
import { createHttpJob, type HttpJobOptions } from "./http/job.ts";
import { logJob } from "./log.ts";

/** What a deployment gives the built-in jobs. */
export interface BuiltinJobsOptions {
  readonly http?: HttpJobOptions;
  /** Where `event` puts its events; without one there is no such job. */
  readonly bus?: EventBus;
}

/** The built-in jobs by name: `log`, `http` and, with a bus, `event`. */
export const createBuiltinJobs = ({ http = {}, bus }: BuiltinJobsOptions = {}): JobMap => ({
  log: logJob,
  http: createHttpJob(http),
  ...(bus && { event: createEventJob(bus) }),
});
