/** What authors of jobs import: the consumer, the worker, the errors that decide a run's outcome, the types of a job's context. */

export type { DeliveryResult } from "../app/engine/run-delivery.ts";
export type { StartedAttempt, WorkerEvent, WorkerReport } from "../app/engine/worker/events.ts";
export { builtin } from "./builtin/index.ts";
export { type ConsumerHandler, type ConsumerOptions, createConsumer } from "./create-consumer.ts";
export { createWorker, type Worker } from "./create-worker.ts";
export { PermanentError, RetryableError, type RetryableErrorOptions } from "./outcomes.ts";
export type { CheckedJob, Job, JobContext, JobHandler, JobMap, JobOccurrence, JobsOf } from "./types.ts";
export { InvalidWorkerError, type WorkerOptions } from "./worker-options.ts";
