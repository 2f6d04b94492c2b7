import type { Logger } from "../app/ports.ts";
import type { OccurrenceKind, RecordedError } from "../core/occurrence.ts";
import type { BuiltinJobSettings } from "../runtime/env.ts";
import type { JobServices } from "../runtime/job-services.ts";
import type { StandardSchemaV1 } from "./standard-schema.ts";

/** The run that a job is called for. */
export interface JobOccurrence {
  /** The run's identity: the same on every attempt and every redelivery. */
  readonly occurrenceId: string;
  readonly scheduleId: string;
  /** The nominal instant in ISO form, or `manual#<key>`. */
  readonly firing: string;
  readonly kind: OccurrenceKind;
  /** The nominal instant. A late run, or one that stands for missed ones, still sees the instant it was meant for. */
  readonly scheduledFor: Date;
}

/** What a job is told, and what it can ask for, beside its payload. */
export interface JobContext {
  readonly occurrence: JobOccurrence;
  /** Counts from 1. An attempt whose process crashed counts too. */
  readonly attempt: number;
  readonly maxAttempts: number;
  /** No further attempt follows when this one fails. */
  readonly isLastAttempt: boolean;
  /** Grows with every attempt: a store that refuses a write with a smaller token than it has seen is safe from stale workers. */
  readonly fencingToken: number;
  /** The OccurrenceId, under the name by which APIs ask for it: the same on every attempt. */
  readonly idempotencyKey: string;
  /** Until when this attempt alone may act, as known by the last renewal. Renewed by itself. */
  leaseUntil(): Date;
  /** When the schedule's `timeoutSeconds` end this attempt. */
  readonly deadline: Date;
  /** Aborts at the deadline, when the lease is lost, on cancellation and on shutdown; its `reason` says which. */
  readonly signal: AbortSignal;
  /** Renews the lease now, as before an effect that must not be a stale worker's. Rejects with the signal's reason when the lease is lost. */
  heartbeat(): Promise<void>;
  /** Writes the OccurrenceId, the attempt and the schedule on every line. */
  readonly logger: Logger;
  /** How the attempt before this one ended. */
  readonly previousError?: RecordedError;
}

/**
 * Runs a job once. What it returns (JSON, at most 16 KB) is kept as the run's output; what it throws decides as `outcomes.ts`
 * says. It may be called more than once for the same run.
 */
export type JobHandler<Payload = unknown> = (payload: Payload, context: JobContext) => unknown;

/** A job whose payload is checked first; one that does not fit fails permanently, with the path that is wrong. */
export interface CheckedJob<Payload = unknown> {
  readonly schema: StandardSchemaV1<unknown, Payload>;
  /** A method, so that jobs of different payloads can stand in one {@link JobMap}: it is only ever called with what its own schema gave. */
  handler(payload: Payload, context: JobContext): unknown;
}

/** What a job may be told of the deployment that it runs in. */
export interface JobDeployment {
  /** What the deployment allows its built-in jobs. */
  readonly allowed: BuiltinJobSettings;
  readonly services: JobServices;
}

/** A job that is made when its consumer or worker starts, of what the deployment says: the built-in ones are. */
export interface DeployedJob {
  deploy(deployment: JobDeployment): RunnableJob;
}

/** A job as it is called: by a function that gets the payload as it is, or with a schema. */
export type RunnableJob = JobHandler | CheckedJob;

/** A job: a function that gets the payload as it is, one with a schema, or one of the built-in ones. */
export type Job<Payload = unknown> = JobHandler | CheckedJob<Payload> | DeployedJob;

/** The jobs of a consumer by the names that schedules use. */
export type JobMap = Readonly<Record<string, Job>>;

/** A {@link JobMap} whose handlers' payloads are inferred from their schemas; for the parameters of functions that take jobs. */
export type JobsOf<Payloads extends Record<string, unknown>> = {
  readonly [Name in keyof Payloads]: Job<Payloads[Name]>;
};
