import jobs from "#jobs";
import { type ConsumerHandler, type ConsumerOptions, createConsumer } from "../lib/jobs/create-consumer.ts";

/** The consumer with what `env` says. */
export const createHandler = (env: NodeJS.ProcessEnv, overrides: Omit<ConsumerOptions, "env"> = {}): ConsumerHandler =>
  createConsumer(jobs, { ...overrides, env });

/** Runs the occurrences of a batch of messages: the SQS event source's handler, with partial batch responses. */
export const handler = createConsumer(jobs);
