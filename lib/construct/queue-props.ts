import type { Duration } from "aws-cdk-lib";

/** By what runs are tried again whose schedules do not say it themselves. */
export interface RetryProps {
  /**
   * How many attempts a run has, from 1 to 100; 1 is no retry.
   * @default 10
   */
  readonly maxAttempts?: number;

  /**
   * The upper bound of the delay before the second attempt.
   * @default Duration.seconds(1)
   */
  readonly baseDelay?: Duration;

  /**
   * By what that bound grows with every attempt, from 1 to 100.
   * @default 2
   */
  readonly multiplier?: number;

  /**
   * What the bound grows to at most.
   * @default Duration.minutes(5)
   */
  readonly maxDelay?: Duration;

  /**
   * Whether a delay is drawn uniformly from zero to its bound, so that what failed together does not come back together.
   * @default true
   */
  readonly jitter?: boolean;
}

/**
 * A named queue beside `default`, to which schedules go that name it. It is read by a consumer function of its own; with
 * `consumer: false` by long-polling workers that the construct does not make (see `workerEnvironment` and `grantWork`); with
 * `completion: "enqueued"` by whatever reads SQS.
 */
export interface NamedQueueProps {
  /**
   * Whether a consumer function reads the queue.
   * @default - true, unless `completion` is "enqueued"
   */
  readonly consumer?: boolean;

  /**
   * `enqueued`: a run is done once SQS has its message, nobody reports its end, and it cannot be cancelled after that.
   * @default - whoever reads the queue reports the end of each run
   */
  readonly completion?: "enqueued";

  /**
   * The file whose default export maps names to the jobs of this queue's consumer.
   * @default - the deployment's jobs
   */
  readonly jobs?: string;

  /**
   * The timeout of this queue's consumer. A job may take ten seconds less.
   * @default Duration.minutes(5)
   */
  readonly consumerTimeout?: Duration;

  /**
   * The memory of this queue's consumer, in MiB; 1,769 are one vCPU.
   * @default 512
   */
  readonly consumerMemorySize?: number;

  /**
   * The most consumers of this queue that run at a time, from 2 to 1000.
   * @default - as many as the account allows
   */
  readonly consumerMaxConcurrency?: number;

  /**
   * How many runs one invocation of the consumer takes at most, from 1 to 10; they go on side by side.
   * @default 10
   */
  readonly batchSize?: number;

  /**
   * How long a message that was received stays hidden from other readers.
   * @default - the consumer's timeout and 30 seconds; without a consumer 2 minutes, with `completion: "enqueued"` 30 seconds
   */
  readonly visibilityTimeout?: Duration;

  /**
   * The longest `timeoutSeconds` that schedules of this queue may ask.
   * @default - the consumer's timeout less 10 seconds; without a consumer an hour, with `completion: "enqueued"` seven days
   */
  readonly timeoutMax?: Duration;

  /**
   * By what runs of this queue are tried again whose schedules do not say it themselves.
   * @default - 10 attempts, up to 5 minutes apart
   */
  readonly retry?: RetryProps;
}
