import type { DynamoDBRecord, SQSRecord } from "aws-lambda";
import { createHandler as dispatcher } from "../../../functions/dispatcher.ts";
import { createHandler as notifier } from "../../../functions/notifier.ts";
import { createHandler as reconciler } from "../../../functions/reconciler.ts";
import { definitionVersion } from "../../../lib/core/schedule-version.ts";
import { createConsumer, type LambdaContext } from "../../../lib/jobs/create-consumer.ts";
import type { Environment } from "../world/environment.ts";
import { lazily } from "../world/host.ts";
import { servicesFor } from "./engine.ts";
import { type FencedEffects, jobsIn } from "./jobs.ts";

/** A Lambda handler. */
export type Handler<Event, Answer> = (event: Event, context: LambdaContext) => Promise<Answer>;

/** What a handler answers its event source: which records or messages are to come again. */
export interface Failures {
  readonly batchItemFailures: readonly { readonly itemIdentifier: string }[];
}

type Records<Record> = { Records: Record[] };

/**
 * The code of a release: its handlers as a cold start in an environment makes them, with the ports they speak to a world
 * through. A bundle of this file with other patches is another release.
 */
export interface Release {
  readonly name: string;
  dispatcher(environment: Environment, env: NodeJS.ProcessEnv): Handler<unknown, unknown>;
  reconciler(
    environment: Environment,
    env: NodeJS.ProcessEnv,
  ): Handler<Records<DynamoDBRecord> | { sweep: true }, Failures>;
  notifier(environment: Environment, env: NodeJS.ProcessEnv): Handler<Records<DynamoDBRecord>, Failures>;
  consumer(
    environment: Environment,
    env: NodeJS.ProcessEnv,
    concurrency: number,
    effects: FencedEffects,
  ): Handler<Records<SQSRecord>, Failures>;
  /** The version it gives a schedule's item. */
  versionOf(item: Readonly<Record<string, unknown>>): string;
}

/** The code as it stands. */
export const THIS_RELEASE: Release = {
  name: "this",
  dispatcher: (environment, env) =>
    dispatcher(
      env,
      servicesFor(environment, (clock) => lazily(environment, clock)),
    ),
  reconciler: (environment, env) => reconciler(env, servicesFor(environment)),
  notifier: (environment, env) => notifier(env, servicesFor(environment)),
  consumer: (environment, env, concurrency, effects) => {
    const services = servicesFor(environment);
    return createConsumer(jobsIn(environment, services.host, effects), {
      ...services,
      env,
      concurrency,
      exit: () => environment.process.kill("a deaf job is still running: its handler exits"),
    });
  },
  versionOf: definitionVersion,
};
