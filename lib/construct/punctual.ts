import { Duration, Stack } from "aws-cdk-lib";
import type { Alarm } from "aws-cdk-lib/aws-cloudwatch";
import type { TableV2 } from "aws-cdk-lib/aws-dynamodb";
import { EventBus, type IEventBus } from "aws-cdk-lib/aws-events";
import type { Grant, IGrantable } from "aws-cdk-lib/aws-iam";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import { RetentionDays } from "aws-cdk-lib/aws-logs";
import type { IQueue } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import { DEFAULT_QUEUE, environmentOf, type Settings } from "../runtime/env.ts";
import { scheduleSettingsJson } from "../runtime/schedule-settings.ts";
import { createAlarms, createUnreadAlarm } from "./alarms.ts";
import { bundlesOf } from "./bundles.ts";
import { type DeploymentPlan, planDeployment } from "./deployment-plan.ts";
import { assertEnvironmentFits } from "./environment-size.ts";
import { InvalidDeploymentError } from "./errors.ts";
import { connectStreams, consumeQueue } from "./event-sources.ts";
import { createConsumer, createFunctions, type Functions } from "./functions.ts";
import { grantPermissions, grantReceiving, grantRunning, type WorkResources } from "./permissions.ts";
import type { PunctualProps } from "./props.ts";
import type { ConsumerPlan } from "./queue-plan.ts";
import { createFailureQueue, createQueues, type RunQueue } from "./queues.ts";
import { createOccurrencesTable, createSchedulesTable, tableSafety } from "./tables.ts";
import { tickDispatchers, tickSweep } from "./ticks.ts";

/**
 * A job scheduler: two tables, FIFO queues with their dead-letter queue, the functions and what connects them.
 *
 * Throws `InvalidDeploymentError` for settings out of their range or a jobs file that cannot be used, and
 * `InvalidTimingError` for settings that do not fit together, with the numbers in the message.
 */
export class Punctual extends Construct {
  /** The definitions: whoever may write here decides what fires. */
  readonly schedules: TableV2;
  /** The runs. Only the scheduler's own functions and workers should write here. */
  readonly occurrences: TableV2;
  /** The default queue. */
  readonly queue: IQueue;
  /** The queues that runs go to, by the names that schedules use. */
  readonly queues: Readonly<Record<string, IQueue>>;
  readonly deadLetterQueue: IQueue;
  readonly eventBus: IEventBus;
  /** The four functions; the consumer is that of the default queue. */
  readonly functions: Functions;
  /** What whoever defines schedules must know of this deployment, as JSON. */
  readonly scheduleSettings: string;
  /** The environment variables of a worker in a container; what it may do comes from {@link grantWork}. */
  readonly workerEnvironment: Record<string, string>;
  /** Alarms without actions; add one to each to be told. */
  readonly alarms: readonly Alarm[];

  readonly #runQueues: readonly RunQueue[];
  readonly #work: WorkResources;

  constructor(scope: Construct, id: string, props: PunctualProps = {}) {
    super(scope, id);
    const plan = planDeployment(props);
    const safety = tableSafety(props);
    this.schedules = createSchedulesTable(this, safety);
    this.occurrences = createOccurrencesTable(this, safety);
    this.eventBus = props.eventBus ?? EventBus.fromEventBusName(this, "EventBus", "default");
    const { main, named, deadLetterQueue } = createQueues(this, plan.queues, {
      messageRetention: Duration.seconds(plan.messageRetentionSeconds),
      maxReceiveCount: plan.maxReceiveCount,
    });
    this.#runQueues = [main, ...named];
    this.queue = main.queue;
    this.queues = Object.fromEntries(this.#runQueues.map(({ plan: { name }, queue }) => [name, queue]));
    this.deadLetterQueue = deadLetterQueue;
    const { occurrences, eventBus } = this;
    this.#work = { occurrences, deadLetterQueue, eventBus, builtinJobs: plan.builtinJobs };
    const settings = this.settingsOf(plan, props, id);
    this.scheduleSettings = scheduleSettingsJson(settings);
    this.workerEnvironment = environmentOf(settings);
    assertEnvironmentFits(this.workerEnvironment);
    const bundleOf = bundlesOf(props);
    const shared = {
      environment: this.workerEnvironment,
      logRetention: props.logRetention ?? RetentionDays.ONE_MONTH,
    };
    this.functions = createFunctions(this, bundleOf, main.plan.consumer, shared);
    this.consume(this.functions.consumer, main.queue, main.plan.consumer);
    for (const { plan: queue, queue: source, scope: place } of named)
      if (queue.consumer !== undefined)
        this.consume(
          createConsumer(place, bundleOf("consumer", queue), queue.consumer, shared),
          source,
          queue.consumer,
        );
    this.alarms = this.connect(settings);
  }

  /**
   * Lets `worker` (a task's role, for one) run what comes in the queue of that name, `default` unless it says otherwise.
   * Throws `InvalidDeploymentError` where there is no such queue, or none that workers read.
   */
  grantWork(worker: IGrantable, queueName: string = DEFAULT_QUEUE): Grant {
    const found = this.#runQueues.find(({ plan }) => plan.name === queueName);
    const names = this.#runQueues.map(({ plan }) => plan.name).join(", ");
    if (found === undefined)
      throw new InvalidDeploymentError(
        `queueName must be one of this deployment's queues (${names}), got ${queueName}`,
      );
    if (found.plan.settings.completion === "enqueued")
      throw new InvalidDeploymentError(
        `queueName must be a queue whose runs are reported, got ${queueName}, whose completion is enqueued: its readers need queues[...].grantConsumeMessages alone`,
      );
    return grantRunning(worker, this.#work).combine(grantReceiving(worker, found.queue));
  }

  private consume(consumer: IFunction, queue: IQueue, plan: ConsumerPlan): void {
    grantRunning(consumer, this.#work);
    consumeQueue(consumer, queue, plan);
  }

  private settingsOf(plan: DeploymentPlan, props: PunctualProps, id: string): Settings {
    const queues = this.#runQueues.map(({ plan: { name, settings }, queue }) => [
      name,
      { url: queue.queueUrl, ...settings },
    ]);
    return {
      ...plan,
      deployment: props.deploymentName ?? `${Stack.of(this).stackName}/${id}`,
      schedulesTable: this.schedules.tableName,
      occurrencesTable: this.occurrences.tableName,
      queues: Object.fromEntries(queues),
      deadLetterQueueUrl: this.deadLetterQueue.queueUrl,
      eventBusName: this.eventBus.eventBusName,
      announce: props.announce ?? [],
      metricsBySchedule: props.metricsBySchedule ?? false,
      logLevel: props.logLevel ?? "INFO",
    };
  }

  /** Lets the functions reach what they work on, and everything reach the functions. */
  private connect({ messageRetentionSeconds, announce, dispatchers, deployment }: Settings): readonly Alarm[] {
    const { schedules, occurrences, deadLetterQueue, functions } = this;
    const failureQueue = createFailureQueue(this, Duration.seconds(messageRetentionSeconds));
    const runQueues = this.#runQueues.map(({ queue }) => queue);
    grantPermissions(functions, { ...this.#work, schedules, runQueues });
    connectStreams(functions, { schedules, occurrences, failureQueue, announce });
    tickDispatchers(this, functions.dispatcher, dispatchers);
    tickSweep(this, functions.reconciler);
    const { dispatcher } = functions;
    const named = this.#runQueues.filter(({ plan }) => plan.name !== DEFAULT_QUEUE);
    return [
      ...createAlarms(this, { deployment, dispatcher, deadLetterQueue, failureQueue }),
      ...named.map(({ scope, queue }) => createUnreadAlarm(scope, queue)),
    ];
  }
}
