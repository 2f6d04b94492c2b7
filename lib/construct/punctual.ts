import { Duration, Stack } from "aws-cdk-lib";
import type { Alarm } from "aws-cdk-lib/aws-cloudwatch";
import type { TableV2 } from "aws-cdk-lib/aws-dynamodb";
import { EventBus, type IEventBus } from "aws-cdk-lib/aws-events";
import { RetentionDays } from "aws-cdk-lib/aws-logs";
import type { IQueue } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import { DEFAULT_HISTORY_SECONDS } from "../core/lease.ts";
import {
  assertTiming,
  DEFAULT_CONSUMER_TIMEOUT_SECONDS,
  MESSAGE_RETENTION_SECONDS,
  RECEIVE_COUNT_MIN,
  timeoutMaxSecondsOf,
  visibilityTimeoutSecondsOf,
} from "../core/timing.ts";
import { DEFAULT_QUEUE, environmentOf, type Settings, timingOf } from "../runtime/env.ts";
import { scheduleSettingsJson } from "../runtime/schedule-settings.ts";
import { createAlarms } from "./alarms.ts";
import { bundleFunctions } from "./bundle.ts";
import { InvalidDeploymentError } from "./errors.ts";
import { connectSources } from "./event-sources.ts";
import { createFunctions, type Functions } from "./functions.ts";
import { grantPermissions } from "./permissions.ts";
import type { PunctualProps } from "./props.ts";
import { createFailureQueue, createQueues } from "./queues.ts";
import { createOccurrencesTable, createSchedulesTable, tableSafety } from "./tables.ts";
import { tickDispatchers, tickSweep } from "./ticks.ts";

/** AWS Lambda quotas, "Function timeout": 900 seconds. */
const FUNCTION_TIMEOUT_MAX_SECONDS = 900;

/** More shards than that cost more in looking than they gain; more dispatchers than shards have nothing to do. */
const SHARDS_MAX = 1_000;

const DEFAULT_SHARDS = 8;
const DEFAULT_CONSUMER_MEMORY_MIB = 512;

/**
 * A job scheduler: two tables, a FIFO queue with its dead-letter queue, four functions and what connects them.
 *
 * Throws `InvalidDeploymentError` for a setting out of its range or a jobs file that cannot be used, and
 * `InvalidTimingError` for settings that do not fit together, with the numbers in the message.
 */
export class Punctual extends Construct {
  /** The definitions: whoever may write here decides what fires. */
  readonly schedules: TableV2;
  /** The runs. Only the scheduler's own functions should write here. */
  readonly occurrences: TableV2;
  readonly queue: IQueue;
  readonly deadLetterQueue: IQueue;
  readonly eventBus: IEventBus;
  readonly functions: Functions;
  /** What whoever defines schedules must know of this deployment, as JSON. */
  readonly scheduleSettings: string;
  /** Alarms without actions; add one to each to be told. */
  readonly alarms: readonly Alarm[];

  constructor(scope: Construct, id: string, props: PunctualProps = {}) {
    super(scope, id);
    const timing = timingProps(props);
    const safety = tableSafety(props);
    this.schedules = createSchedulesTable(this, safety);
    this.occurrences = createOccurrencesTable(this, safety);
    this.eventBus = props.eventBus ?? EventBus.fromEventBusName(this, "EventBus", "default");
    const queues = createQueues(this, {
      visibilityTimeout: Duration.seconds(timing.visibilityTimeoutSeconds),
      messageRetention: Duration.seconds(timing.messageRetentionSeconds),
      maxReceiveCount: timing.maxReceiveCount,
    });
    this.queue = queues.queue;
    this.deadLetterQueue = queues.deadLetterQueue;
    const settings: Settings = {
      ...timing,
      ...scaleProps(props),
      deployment: props.deploymentName ?? `${Stack.of(this).stackName}/${id}`,
      schedulesTable: this.schedules.tableName,
      occurrencesTable: this.occurrences.tableName,
      queues: {
        [DEFAULT_QUEUE]: {
          url: this.queue.queueUrl,
          timeoutMaxSeconds: timeoutMaxSecondsOf(timing.consumerTimeoutSeconds),
        },
      },
      deadLetterQueueUrl: this.deadLetterQueue.queueUrl,
      eventBusName: this.eventBus.eventBusName,
      announce: props.announce ?? [],
      metricsBySchedule: props.metricsBySchedule ?? false,
      logLevel: props.logLevel ?? "INFO",
    };
    assertTiming(timingOf(settings));
    this.scheduleSettings = scheduleSettingsJson(settings);
    this.functions = createFunctions(this, {
      bundles: props.bundles ?? bundleFunctions({ ...(props.jobs !== undefined && { jobsFile: props.jobs }) }),
      environment: environmentOf(settings),
      logRetention: props.logRetention ?? RetentionDays.ONE_MONTH,
      consumer: {
        memorySize: props.consumerMemorySize ?? DEFAULT_CONSUMER_MEMORY_MIB,
        timeout: Duration.seconds(timing.consumerTimeoutSeconds),
      },
    });
    this.alarms = this.connect(settings, props);
  }

  /** Lets the functions reach what they work on, and everything reach the functions. */
  private connect(settings: Settings, props: PunctualProps): readonly Alarm[] {
    const { schedules, occurrences, queue, deadLetterQueue, eventBus, functions } = this;
    const failureQueue = createFailureQueue(this, Duration.seconds(settings.messageRetentionSeconds));
    grantPermissions(functions, { schedules, occurrences, runQueues: [queue], deadLetterQueue, eventBus });
    const { consumerMaxConcurrency } = props;
    connectSources(functions, {
      queue,
      schedules,
      occurrences,
      failureQueue,
      announce: settings.announce,
      ...(consumerMaxConcurrency !== undefined && { consumerMaxConcurrency }),
    });
    tickDispatchers(this, functions.dispatcher, settings.dispatchers);
    tickSweep(this, functions.reconciler);
    const { deployment } = settings;
    return createAlarms(this, { deployment, dispatcher: functions.dispatcher, deadLetterQueue, failureQueue });
  }
}

/** The lengths and counts that a deployment can set, with their defaults. */
function timingProps(props: PunctualProps) {
  const consumerTimeoutSeconds = props.consumerTimeout?.toSeconds() ?? DEFAULT_CONSUMER_TIMEOUT_SECONDS;
  if (consumerTimeoutSeconds > FUNCTION_TIMEOUT_MAX_SECONDS)
    throw new InvalidDeploymentError(
      `consumerTimeout must be at most ${FUNCTION_TIMEOUT_MAX_SECONDS} seconds, got ${consumerTimeoutSeconds}`,
    );
  return {
    consumerTimeoutSeconds,
    visibilityTimeoutSeconds:
      props.visibilityTimeout?.toSeconds() ?? visibilityTimeoutSecondsOf(consumerTimeoutSeconds),
    messageRetentionSeconds: props.messageRetention?.toSeconds() ?? MESSAGE_RETENTION_SECONDS,
    historySeconds: props.history?.toSeconds() ?? DEFAULT_HISTORY_SECONDS,
    maxReceiveCount: props.maxReceiveCount ?? RECEIVE_COUNT_MIN,
  };
}

/** Over how many shards and dispatchers the work is spread. */
function scaleProps({ shards = DEFAULT_SHARDS, dispatchers = 1 }: PunctualProps) {
  checkCount("shards", shards, SHARDS_MAX);
  checkCount("dispatchers", dispatchers, shards);
  return { shards, dispatchers };
}

function checkCount(name: string, count: number, max: number): void {
  if (!Number.isInteger(count) || count < 1 || count > max)
    throw new InvalidDeploymentError(`${name} must be a whole number from 1 to ${max}, got ${count}`);
}
