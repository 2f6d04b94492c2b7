import { Duration } from "aws-cdk-lib";
import { Alarm, ComparisonOperator, type IMetric, Metric, TreatMissingData } from "aws-cdk-lib/aws-cloudwatch";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import type { IQueue } from "aws-cdk-lib/aws-sqs";
import type { Construct } from "constructs";
import type { MetricName } from "../app/ports.ts";
import { METRICS_DIMENSION, METRICS_NAMESPACE } from "../runtime/names.ts";

const MINUTE = Duration.minutes(1);

/** How many minutes in a row without a sign of life are an alarm: a tick that is late or lost is none. */
const SILENT_MINUTES = 3;

/** A metric that the functions of `deployment` write, summed by the minute. */
const deploymentMetric = (deployment: string, metricName: MetricName): Metric =>
  new Metric({
    namespace: METRICS_NAMESPACE,
    metricName,
    dimensionsMap: { [METRICS_DIMENSION]: deployment },
    statistic: "Sum",
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
  // By depth: NumberOfMessagesSent does not count what SQS moves by itself.
  const notEmpty = (id: string, queue: IQueue, alarmDescription: string) =>
    new Alarm(scope, id, {
      metric: queue.metricApproximateNumberOfMessagesVisible({ period: MINUTE, statistic: "Maximum" }),
      alarmDescription,
      threshold: 0,
      evaluationPeriods: 1,
      comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
  return [
    silent("NotTicking", dispatcher.metricInvocations({ period: MINUTE }), "No dispatcher was started: nothing fires"),
    silent(
      "NotDispatching",
      deploymentMetric(deployment, "Heartbeats"),
      "No dispatcher looks at what is due: nothing fires",
    ),
    notEmpty("DeadLetters", deadLetterQueue, "Runs failed for good and await an operator"),
    notEmpty(
      "StreamsFailing",
      failureQueue,
      "Changes of a table could not be processed; the hourly sweep mends what it can",
    ),
  ];
}
