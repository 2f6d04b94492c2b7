import type { Duration, RemovalPolicy } from "aws-cdk-lib";
import type { IEventBus } from "aws-cdk-lib/aws-events";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import type { RetentionDays } from "aws-cdk-lib/aws-logs";
import type { LogLevel, OptionalAnnouncement } from "../runtime/env.ts";
import type { NamedQueueProps, RetryProps } from "./queue-props.ts";

/** How a deployment of the scheduler differs from the stock one. Numbers are checked against each other at synthesis. */
export interface PunctualProps {
  /**
   * The deployment's name: the dimension of its metrics.
   * @default - the stack's name and this construct's id
   */
  readonly deploymentName?: string;

  /**
   * The TypeScript or JavaScript file whose default export maps names to jobs. It is bundled into the consumer.
   * @default - the stock jobs
   */
  readonly jobs?: string;

  /**
   * Queues beside `default`, by the names that schedules use: at most nine.
   * @default - none
   */
  readonly queues?: Readonly<Record<string, NamedQueueProps>>;

  /**
   * By what runs of the default queue are tried again whose schedules do not say it themselves.
   * @default - 10 attempts, up to 5 minutes apart
   */
  readonly retry?: RetryProps;

  /**
   * Where the built-in job `http` may call: hosts (`api.example.com`, `*.example.com`; https at public addresses) and origins
   * (`http://10.0.0.5:8080`; just there, whatever the address).
   * @default - nowhere
   */
  readonly httpAllowedHosts?: readonly string[];

  /**
   * The functions, versions or aliases that the built-in job `lambda` may invoke.
   * @default - none
   */
  readonly lambdaFunctions?: readonly IFunction[];

  /**
   * The source of the events that the built-in job `event` puts on the event bus.
   * @default - the job puts none
   */
  readonly eventJobSource?: string;

  /**
   * A directory of bundles made beforehand, `<function>/index.mjs` each; `jobs`, also those of queues, then has no effect.
   * @default - the functions are bundled at synthesis
   */
  readonly bundles?: string;

  /**
   * How many shards the due index is spread over, and so how many partitions claims can use: about 1,000 writes a second
   * each. A smaller number later loses nothing.
   * @default 8
   */
  readonly shards?: number;

  /**
   * How many dispatchers run at a time. Each costs about $17 a month and serves its share of the shards; they stand in for
   * each other.
   * @default 1
   */
  readonly dispatchers?: number;

  /**
   * How long finished occurrences are kept, at least. Dead letters are kept until somebody deals with them.
   * @default Duration.days(30)
   */
  readonly history?: Duration;

  /**
   * The consumer function's timeout. A job may take ten seconds less.
   * @default Duration.minutes(5)
   */
  readonly consumerTimeout?: Duration;

  /**
   * The consumer function's memory, in MiB; 1,769 are one vCPU.
   * @default 512
   */
  readonly consumerMemorySize?: number;

  /**
   * The most consumers that run at a time, from 2 to 1000.
   * @default - as many as the account allows
   */
  readonly consumerMaxConcurrency?: number;

  /**
   * How long a message that a consumer received stays hidden from others.
   * @default - the consumer's timeout and 30 seconds
   */
  readonly visibilityTimeout?: Duration;

  /**
   * How long the queues keep messages.
   * @default Duration.days(14)
   */
  readonly messageRetention?: Duration;

  /**
   * How often a message may be received before the queue itself moves it to the dead-letter queue.
   * @default 20
   */
  readonly maxReceiveCount?: number;

  /**
   * Where what becomes of occurrences is announced.
   * @default - the account's default event bus
   */
  readonly eventBus?: IEventBus;

  /**
   * Announcements beyond failures, dead letters, skips and cancellations; each costs an event a run.
   * @default - none
   */
  readonly announce?: readonly OptionalAnnouncement[];

  /**
   * Whether lateness, durations and outcomes of runs are also metrics by schedule. CloudWatch charges for each: up to six a
   * schedule that runs.
   * @default false
   */
  readonly metricsBySchedule?: boolean;

  /**
   * The least severe entries that the functions log.
   * @default "INFO"
   */
  readonly logLevel?: LogLevel;

  /**
   * How long the functions' logs are kept.
   * @default RetentionDays.ONE_MONTH
   */
  readonly logRetention?: RetentionDays;

  /**
   * What becomes of the two tables when they leave the stack.
   * @default RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE
   */
  readonly removalPolicy?: RemovalPolicy;

  /**
   * Whether the tables refuse to be deleted, by anyone.
   * @default - true unless `removalPolicy` is DESTROY
   */
  readonly deletionProtection?: boolean;
}
