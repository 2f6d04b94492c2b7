import type { Duration } from "aws-cdk-lib";
import type { Problem } from "../core/errors.ts";
import type { RetryPolicy } from "../core/retry.ts";
import { DELAY_MAX_SECONDS, MAX_ATTEMPTS_LIMIT, TIMEOUT_MAX_SECONDS } from "../core/schedule-definition.ts";
import { DEFAULT_CONSUMER_TIMEOUT_SECONDS, timeoutMaxSecondsOf, visibilityTimeoutSecondsOf } from "../core/timing.ts";
import { DEFAULT_QUEUE, type QueueSettings } from "../runtime/env.ts";
import type { PunctualProps } from "./props.ts";
import type { NamedQueueProps, RetryProps } from "./queue-props.ts";
import { outOfRange } from "./ranges.ts";

/** AWS Lambda quotas, "Function timeout": 900 seconds. */
const FUNCTION_TIMEOUT_MAX_SECONDS = 900;
/** AWS Lambda quotas, "Function memory allocation": 128 MB to 10,240 MB. */
const FUNCTION_MEMORY_MIB = { min: 128, max: 10_240 };
/** The most messages of one invocation (AWS Lambda Developer Guide, "Amazon SQS event source": 10 for FIFO queues). */
const FIFO_BATCH_MAX = 10;
/** AWS Lambda API Reference, "ScalingConfig": MaximumConcurrency from 2 to 1000. */
const MAX_CONCURRENCY = { min: 2, max: 1_000 };
/** Amazon SQS API Reference, "SetQueueAttributes": VisibilityTimeout from 0 to 43,200. */
const VISIBILITY_MAX_SECONDS = 43_200;
/** The most queues whose messages one dead-letter queue takes, where it names them (Amazon SQS API Reference, "SetQueueAttributes": sourceQueueArns). */
const REDRIVE_SOURCES_MAX = 10;

const DEFAULT_CONSUMER_MEMORY_MIB = 512;
const DEFAULT_WORKER_TIMEOUT_MAX_SECONDS = 3_600;
const DEFAULT_WORKER_VISIBILITY_SECONDS = 120;
/** As SQS has it by itself (Amazon SQS Developer Guide, "Amazon SQS visibility timeout"). */
const DEFAULT_PLAIN_VISIBILITY_SECONDS = 30;

/** Part of names of queues, of logical ids and of messages; short enough to leave room for the stack's name. */
const QUEUE_NAME = /^[A-Za-z][A-Za-z0-9_-]{0,39}$/;

/** The function behind a queue. */
export interface ConsumerPlan {
  readonly timeoutSeconds: number;
  readonly memorySize: number;
  readonly batchSize: number;
  readonly maxConcurrency?: number;
  /** Jobs of its own in place of the deployment's. */
  readonly jobs?: string;
}

/** A queue as it is to be made: what its readers are told of it but for its URL, and the function behind it, if any. */
export interface QueuePlan {
  readonly name: string;
  readonly visibilityTimeoutSeconds: number;
  readonly settings: Omit<QueueSettings, "url">;
  readonly consumer?: ConsumerPlan;
}

/** A queue with a function behind it. */
type ConsumedQueuePlan = QueuePlan & { readonly consumer: ConsumerPlan };

/** The queues of a deployment. */
export interface QueuePlans {
  /** `default`. */
  readonly main: ConsumedQueuePlan;
  readonly named: readonly QueuePlan[];
}

/** The plans of all queues, and what is wrong with the props they follow from. */
export function planQueues(props: PunctualProps): QueuePlans & { readonly problems: readonly Problem[] } {
  const named = Object.entries(props.queues ?? {});
  return {
    main: consumedQueue(DEFAULT_QUEUE, props),
    named: named.map(([name, queue]) => planOf(name, queue)),
    problems: [...rangeProblems("", props), ...listProblems(named), ...named.flatMap(queueProblems)],
  };
}

function planOf(name: string, props: NamedQueueProps): QueuePlan {
  const { completion, visibilityTimeout, timeoutMax } = props;
  if (isConsumed(props)) return consumedQueue(name, props);
  const [limit, visibility] =
    completion === "enqueued"
      ? [TIMEOUT_MAX_SECONDS, DEFAULT_PLAIN_VISIBILITY_SECONDS]
      : [DEFAULT_WORKER_TIMEOUT_MAX_SECONDS, DEFAULT_WORKER_VISIBILITY_SECONDS];
  return {
    name,
    visibilityTimeoutSeconds: visibilityTimeout?.toSeconds() ?? visibility,
    settings: {
      timeoutMaxSeconds: timeoutMax?.toSeconds() ?? limit,
      ...retrySetting(props),
      ...(completion && { completion }),
    },
  };
}

const isConsumed = ({ consumer, completion }: NamedQueueProps): boolean => consumer ?? completion !== "enqueued";

function consumedQueue(name: string, props: NamedQueueProps): ConsumedQueuePlan {
  const consumerTimeoutSeconds = props.consumerTimeout?.toSeconds() ?? DEFAULT_CONSUMER_TIMEOUT_SECONDS;
  const visibilityTimeoutSeconds =
    props.visibilityTimeout?.toSeconds() ?? visibilityTimeoutSecondsOf(consumerTimeoutSeconds);
  return {
    name,
    visibilityTimeoutSeconds,
    settings: {
      timeoutMaxSeconds: props.timeoutMax?.toSeconds() ?? timeoutMaxSecondsOf(consumerTimeoutSeconds),
      ...retrySetting(props),
      consumerTimeoutSeconds,
      visibilityTimeoutSeconds,
    },
    consumer: consumerOf(props, consumerTimeoutSeconds),
  };
}

const consumerOf = (props: NamedQueueProps, timeoutSeconds: number): ConsumerPlan => ({
  timeoutSeconds,
  memorySize: props.consumerMemorySize ?? DEFAULT_CONSUMER_MEMORY_MIB,
  batchSize: props.batchSize ?? FIFO_BATCH_MAX,
  ...(props.consumerMaxConcurrency !== undefined && { maxConcurrency: props.consumerMaxConcurrency }),
  ...(props.jobs !== undefined && { jobs: props.jobs }),
});

/** Delays may be parts of a second. */
const secondsOf = (duration: Duration): number => duration.toMilliseconds() / 1_000;

const retrySetting = ({ retry }: NamedQueueProps) => (retry === undefined ? {} : { retry: retryOf(retry) });

const retryOf = ({ baseDelay, maxDelay, ...retry }: RetryProps): Partial<RetryPolicy> => ({
  ...retry,
  ...(baseDelay && { baseDelaySeconds: secondsOf(baseDelay) }),
  ...(maxDelay && { maxDelaySeconds: secondsOf(maxDelay) }),
});

function listProblems(named: readonly (readonly [string, NamedQueueProps])[]): Problem[] {
  const most = REDRIVE_SOURCES_MAX - 1;
  const tooMany = {
    path: "queues",
    message: `must be at most ${most} beside ${DEFAULT_QUEUE}, since a dead-letter queue takes from at most ${REDRIVE_SOURCES_MAX}, got ${named.length}`,
  };
  return named.length > most ? [tooMany] : [];
}

function queueProblems(
  [name, props]: readonly [string, NamedQueueProps],
  index: number,
  all: readonly (readonly [string, NamedQueueProps])[],
): Problem[] {
  const path = `queues.${name}`;
  const twin = all.slice(0, index).find(([other]) => plainly(other) === plainly(name));
  const message = (rule: string): Problem => ({ path, message: rule });
  return [
    ...(QUEUE_NAME.test(name) ? [] : [message("must be named by a letter and up to 39 letters, digits, '_' or '-'")]),
    ...(plainly(name) === DEFAULT_QUEUE
      ? [message("must have another name: the props of the construct itself are those of the default queue")]
      : []),
    ...(twin ? [message(`must differ from queue ${twin[0]} by more than case, '_' and '-'`)] : []),
    ...kindProblems(path, props),
    ...rangeProblems(`${path}.`, props),
  ];
}

/** A name as logical ids, outputs and people's eyes keep it apart from others. */
const plainly = (name: string): string => name.replace(/[_-]/g, "").toLowerCase();

const OF_CONSUMERS = [
  "jobs",
  "consumerTimeout",
  "consumerMemorySize",
  "consumerMaxConcurrency",
  "batchSize",
] as const satisfies readonly (keyof NamedQueueProps)[];

/** Settings that mean nothing for what the queue is: most likely it was meant to be something else. */
function kindProblems(path: string, props: NamedQueueProps): Problem[] {
  const plain = props.completion === "enqueued";
  const consumed = isConsumed(props);
  const idle = (name: keyof NamedQueueProps, why: string): Problem[] =>
    props[name] === undefined ? [] : [{ path: `${path}.${name}`, message: `must not be set: ${why}` }];
  if (consumed && plain)
    return [{ path: `${path}.consumer`, message: "must not be true with completion enqueued: nobody reports there" }];
  return [
    ...(consumed ? [] : OF_CONSUMERS.flatMap((name) => idle(name, "the queue has no consumer function"))),
    ...(plain ? idle("retry", "a run of this queue is done once SQS has it") : []),
  ];
}

function rangeProblems(prefix: string, props: NamedQueueProps): Problem[] {
  const { consumerTimeout, consumerMemorySize, consumerMaxConcurrency, batchSize, visibilityTimeout, timeoutMax } =
    props;
  const { maxAttempts, baseDelay, multiplier, maxDelay } = props.retry ?? {};
  const whole = (name: string, value: number | undefined, range: { min: number; max: number }) =>
    outOfRange(`${prefix}${name}`, value, { ...range, whole: true });
  const seconds = (name: string, value: Duration | undefined, min: number, max: number) =>
    outOfRange(`${prefix}${name}`, value && secondsOf(value), { min, max, unit: "seconds" });
  return [
    ...seconds("consumerTimeout", consumerTimeout, 1, FUNCTION_TIMEOUT_MAX_SECONDS),
    ...whole("consumerMemorySize", consumerMemorySize, FUNCTION_MEMORY_MIB),
    ...whole("consumerMaxConcurrency", consumerMaxConcurrency, MAX_CONCURRENCY),
    ...whole("batchSize", batchSize, { min: 1, max: FIFO_BATCH_MAX }),
    ...seconds("visibilityTimeout", visibilityTimeout, 1, VISIBILITY_MAX_SECONDS),
    ...seconds("timeoutMax", timeoutMax, 1, TIMEOUT_MAX_SECONDS),
    ...whole("retry.maxAttempts", maxAttempts, { min: 1, max: MAX_ATTEMPTS_LIMIT }),
    ...seconds("retry.baseDelay", baseDelay, 0, DELAY_MAX_SECONDS),
    ...outOfRange(`${prefix}retry.multiplier`, multiplier, { min: 1, max: 100 }),
    ...seconds("retry.maxDelay", maxDelay, 0, DELAY_MAX_SECONDS),
  ];
}
