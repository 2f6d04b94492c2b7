/** What authors of jobs import: the consumer, the errors that decide a run's outcome, the types of a job's context. */
export { type ConsumerHandler, type ConsumerOptions, createConsumer } from "./create-consumer.ts";
export { PermanentError, RetryableError, type RetryableErrorOptions } from "./outcomes.ts";
export type { CheckedJob, Job, JobContext, JobHandler, JobMap, JobOccurrence, JobsOf } from "./types.ts";
