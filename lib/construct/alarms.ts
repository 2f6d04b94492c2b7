import { Duration } from "aws-cdk-lib";
import { Alarm, ComparisonOperator, type IMetric, Metric, TreatMissingData } from "aws-cdk-lib/aws-cloudwatch";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import type { IQueue } from "aws-cdk-lib/aws-sqs";
import type { Construct } from "constructs";
import type { GaugeName, MetricName } from "../app/ports.ts";
import { METRICS_DIMENSION, METRICS_NAMESPACE } from "../runtime/names.ts";

const MINUTE = Duration.minutes(1);

/** How many minutes in a row without a sign of life are an alarm: a tick that is late or lost is none. */
const SILENT_MINUTES = 3;

/** Longer than any run is left alone in its queue: what is older waits for a reader. */
const UNREAD_AFTER = Duration.hours(1);

/** The alarm of a named queue that nobody reads, or not fast enough. */
export const createUnreadAlarm = (scope: Construct, queue: IQueue): Alarm =>
  new Alarm(scope, "Unread", {
    metric: queue.metricApproximateAgeOfOldestMessage({ period: MINUTE, statistic: "Maximum" }),
    alarmDescription: "Runs wait in a queue that nobody reads, or not fast enough",
    threshold: UNREAD_AFTER.toSeconds(),
    evaluationPeriods: SILENT_MINUTES,
    comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
    treatMissingData: TreatMissingData.NOT_BREACHING,
  });

/** A metric that the functions of `deployment` write, by the minute. */
const deploymentMetric = (deployment: string, metricName: MetricName | GaugeName, statistic: "Sum" | "Maximum") =>
  new Metric({
    namespace: METRICS_NAMESPACE,
    metricName,
    dimensionsMap: { [METRICS_DIMENSION]: deployment },
    statistic,
    period: MINUTE,
  });

/** What the alarms watch. */
export interface Watched {
  readonly deployment: string;
  readonly dispatcher: IFunction;
  readonly deadLetterQueue: IQueue;
  readonly failureQueue: IQueue;
}

/** The alarms of a deployment, without actions: nothing is due because nothing runs, and something failed for good. */
export function createAlarms(scope: Construct, watched: Watched): readonly Alarm[] {
  const { deployment, dispatcher, deadLetterQueue, failureQueue } = watched;
  const silent = (id: string, metric: IMetric, alarmDescription: string) =>
    new Alarm(scope, id, {
      metric,
      alarmDescription,
      threshold: 1,
      evaluationPeriods: SILENT_MINUTES,
      comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
      // No data is the very thing to be alarmed by.
      treatMissingData: TreatMissingData.BREACHING,
    });
  const any = (id: string, metric: IMetric, treatMissingData: TreatMissingData, alarmDescription: string) =>
    new Alarm(scope, id, {
      metric,
      alarmDescription,
      threshold: 0,
      evaluationPeriods: 1,
      comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
      treatMissingData,
    });
  // By depth: NumberOfMessagesSent does not count what SQS moves by itself.
  const notEmpty = (id: string, queue: IQueue, alarmDescription: string) =>
    any(
      id,
      queue.metricApproximateNumberOfMessagesVisible({ period: MINUTE, statistic: "Maximum" }),
      TreatMissingData.NOT_BREACHING,
      alarmDescription,
    );
  return [
    silent("NotTicking", dispatcher.metricInvocations({ period: MINUTE }), "No dispatcher was started: nothing fires"),
    silent(
      "NotDispatching",
      deploymentMetric(deployment, "Heartbeats", "Sum"),
      "No dispatcher looks at what is due: nothing fires",
    ),
    any(
      "DeadLetters",
      deploymentMetric(deployment, "OpenDeadLetters", "Maximum"),
      // A tick that comes late leaves a minute without a number, which changes nothing.
      TreatMissingData.IGNORE,
      "Runs failed for good and await an operator: ends once all are replayed or discarded",
    ),
    // Beside it: what SQS moved by itself, or nobody could read, has no row that is a dead letter.
    notEmpty(
      "DeadLetterMessages",
      deadLetterQueue,
      "Messages lie in the dead-letter queue, also such as no run stands for: ends once the queue is empty",
    ),
    notEmpty(
      "StreamsFailing",
      failureQueue,
      "Changes of a table could not be processed; the hourly sweep mends what it can",
    ),
  ];
}
