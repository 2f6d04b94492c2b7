import type { Attempt, Execute, Execution } from "../app/engine/run-occurrence.ts";
import type { Logger } from "../app/ports.ts";
import { attemptId, formatKey, type Occurrence, type RecordedError } from "../core/occurrence.ts";
import { recordedError } from "../core/recorded-error.ts";
import type { DeployedEngine } from "../runtime/create-engine.ts";
import { outcomeOf, PermanentError } from "./outcomes.ts";
import { parsePayload } from "./payload.ts";
import type { JobContext, JobMap, RunnableJob } from "./types.ts";

/** How many job names an error tells of. */
const NAMES_SHOWN_MAX = 20;

/** Runs jobs out of `jobs` by their rows' `job` names; whatever one throws becomes the run's outcome. */
export const executorOf =
  (jobs: Readonly<Record<string, RunnableJob>>, logger: Logger): Execute =>
  async (attempt) => {
    const log = withFields(logger, attempt.row);
    try {
      const job = jobNamed(jobs, attempt.row.job);
      return succeeded(await callJob(job, attempt, log), log);
    } catch (thrown) {
      const outcome = outcomeOf(thrown);
      return {
        kind: "failed",
        error: recordedError(thrown),
        permanent: outcome.kind === "permanent",
        ...(outcome.kind === "retryable" &&
          outcome.retryAfterSeconds !== undefined && { retryAfterSeconds: outcome.retryAfterSeconds }),
      };
    }
  };

/** `jobs` with those made that depend on what the deployment says. Throws `RangeError` where that cannot be used. */
export function deployed(
  jobs: JobMap,
  { deployed: { builtinJobs }, jobServices }: Pick<DeployedEngine, "deployed" | "jobServices">,
): Readonly<Record<string, RunnableJob>> {
  const deployment = { allowed: builtinJobs, services: jobServices };
  return Object.fromEntries(
    Object.entries(jobs).map(([name, job]) => [name, "deploy" in job ? job.deploy(deployment) : job]),
  );
}

function jobNamed(jobs: Readonly<Record<string, RunnableJob>>, name: string): RunnableJob {
  const job = Object.hasOwn(jobs, name) ? jobs[name] : undefined;
  if (job !== undefined) return job;
  const names = Object.keys(jobs);
  const known = [...names.slice(0, NAMES_SHOWN_MAX), ...(names.length > NAMES_SHOWN_MAX ? ["..."] : [])].join(", ");
  throw new PermanentError(`job must be one of this consumer's (${known || "it has none"}), got "${name}"`);
}

async function callJob(job: RunnableJob, attempt: Attempt, logger: Logger): Promise<unknown> {
  const payload: unknown = JSON.parse(attempt.row.payload);
  const context = contextOf(attempt, logger);
  if (typeof job === "function") return job(payload, context);
  return job.handler(await parsePayload(job.schema, payload), context);
}

function contextOf({ row, deadline, signal, leaseUntil, heartbeat }: Attempt, logger: Logger): JobContext {
  const previousError = previousErrorOf(row);
  return {
    occurrence: {
      occurrenceId: row.occurrenceId,
      scheduleId: row.scheduleId,
      firing: row.firing,
      kind: row.kind,
      scheduledFor: new Date(row.scheduledFor),
    },
    attempt: row.attempts,
    maxAttempts: row.maxAttempts,
    isLastAttempt: row.attempts >= row.maxAttempts,
    fencingToken: row.fencingToken,
    idempotencyKey: row.occurrenceId,
    leaseUntil: () => new Date(leaseUntil()),
    deadline: new Date(deadline),
    signal,
    heartbeat,
    logger,
    ...(previousError && { previousError }),
  };
}

/** An attempt that started and never reported took its process with it, or lost it: that is its error. */
function previousErrorOf(row: Occurrence): RecordedError | undefined {
  const previous = row.log.at(-2);
  if (previous === undefined) return row.lastError;
  return previous.endedAt === undefined
    ? { name: "WorkerLost", message: `attempt ${previous.attempt} started and never reported` }
    : (previous.error ?? row.lastError);
}

function succeeded(output: unknown, logger: Logger): Execution {
  if (output === undefined) return { kind: "succeeded" };
  try {
    const text = JSON.stringify(output);
    return text === undefined ? { kind: "succeeded" } : { kind: "succeeded", output: text };
  } catch (error) {
    logger.warn("the job's output cannot be written as JSON and is not kept", { error: recordedError(error) });
    return { kind: "succeeded" };
  }
}

function withFields(logger: Logger, row: Occurrence): Logger {
  const own = {
    occurrence: formatKey(row),
    occurrenceId: row.occurrenceId,
    attemptId: attemptId(row.occurrenceId, row.fencingToken),
    scheduleId: row.scheduleId,
    job: row.job,
  };
  return {
    debug: (message, fields) => logger.debug(message, { ...fields, ...own }),
    info: (message, fields) => logger.info(message, { ...fields, ...own }),
    warn: (message, fields) => logger.warn(message, { ...fields, ...own }),
    error: (message, fields) => logger.error(message, { ...fields, ...own }),
  };
}
