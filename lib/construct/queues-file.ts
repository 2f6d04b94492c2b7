import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { Duration } from "aws-cdk-lib";
import { parse } from "yaml";
import * as z from "zod";
import { errorMessage, formatProblems } from "../core/errors.ts";
import { problemsOf } from "../core/validation.ts";
import { DEFAULT_QUEUE } from "../runtime/env.ts";
import { InvalidDeploymentError } from "./errors.ts";
import type { PunctualProps } from "./props.ts";

const number = z.number("must be a number");
const seconds = z
  .int("must be a whole number of seconds")
  .nonnegative("must not be negative")
  .transform((amount) => Duration.seconds(amount));
const delay = z
  .number("must be a number of seconds")
  .nonnegative("must not be negative")
  .transform((amount) => Duration.millis(Math.round(amount * 1_000)));
const flag = z.boolean("must be true or false");

const retry = z
  .strictObject(
    {
      maxAttempts: z.exactOptional(number),
      baseDelaySeconds: z.exactOptional(delay),
      multiplier: z.exactOptional(number),
      maxDelaySeconds: z.exactOptional(delay),
      jitter: z.exactOptional(flag),
    },
    "must be a map of maxAttempts, baseDelaySeconds, multiplier, maxDelaySeconds and jitter",
  )
  .transform(({ baseDelaySeconds: baseDelay, maxDelaySeconds: maxDelay, ...rest }) => ({
    ...rest,
    ...(baseDelay && { baseDelay }),
    ...(maxDelay && { maxDelay }),
  }));

const SETTINGS_RULE = "must be a map of a queue's settings";

const queueIn = (directory: string) =>
  z
    .strictObject(
      {
        consumer: z.exactOptional(flag),
        completion: z.exactOptional(z.literal("enqueued", "must be enqueued where it is given")),
        jobs: z.exactOptional(z.string("must be a file").min(1, "must be a file")),
        consumerTimeoutSeconds: z.exactOptional(seconds),
        consumerMemorySize: z.exactOptional(number),
        consumerMaxConcurrency: z.exactOptional(number),
        batchSize: z.exactOptional(number),
        visibilityTimeoutSeconds: z.exactOptional(seconds),
        timeoutMaxSeconds: z.exactOptional(seconds),
        retry: z.exactOptional(retry),
      },
      SETTINGS_RULE,
    )
    .transform(({ jobs, consumerTimeoutSeconds, visibilityTimeoutSeconds, timeoutMaxSeconds, ...rest }) => ({
      ...rest,
      ...(jobs !== undefined && { jobs: resolve(directory, jobs) }),
      ...(consumerTimeoutSeconds && { consumerTimeout: consumerTimeoutSeconds }),
      ...(visibilityTimeoutSeconds && { visibilityTimeout: visibilityTimeoutSeconds }),
      ...(timeoutMaxSeconds && { timeoutMax: timeoutMaxSeconds }),
    }));

const main = z.strictObject({ retry: z.exactOptional(retry) }, "must be a map of retry alone");
const map = z.record(z.string(), z.unknown(), "must be a map of queues by their names");

/** What a file of queues says: the named ones, and by what runs of the default queue are tried again. */
export type QueuesFile = Pick<PunctualProps, "queues" | "retry">;

/**
 * Reads a JSON or YAML file of named queues, whose settings are those of the construct in plain numbers; `default` may be among
 * them with `retry` alone. Jobs files are found from where the file lies. Throws {@link InvalidDeploymentError} naming the path
 * of everything that cannot be used.
 */
export function readQueuesFile(file: string): QueuesFile {
  const fail = (why: string, cause?: unknown) =>
    new InvalidDeploymentError(`queues must be a JSON or YAML file of queues, got ${file}: ${why}`, { cause });
  const value = parsedFile(file, fail);
  const all = map.safeParse(value);
  if (!all.success) throw fail(formatProblems(problemsOf(all.error, value)));
  const { [DEFAULT_QUEUE]: own = {}, ...named } = all.data;
  const ownParsed = z.object({ [DEFAULT_QUEUE]: main }).safeParse({ [DEFAULT_QUEUE]: own });
  const namedParsed = z.record(z.string(), queueIn(dirname(resolve(file)))).safeParse(named);
  if (ownParsed.success && namedParsed.success) return { ...ownParsed.data[DEFAULT_QUEUE], queues: namedParsed.data };
  const problems = [ownParsed, namedParsed].flatMap(({ error }) =>
    error === undefined ? [] : problemsOf(error, all.data),
  );
  throw fail(formatProblems(problems));
}

function parsedFile(file: string, fail: (why: string, cause: unknown) => Error): unknown {
  try {
    return parse(readFileSync(file, "utf8"));
  } catch (cause) {
    throw fail(errorMessage(cause).split("\n")[0] ?? "", cause);
  }
}
