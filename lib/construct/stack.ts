import { CfnOutput, Stack, type StackProps } from "aws-cdk-lib";
import type { Construct } from "constructs";
import type { PunctualProps } from "./props.ts";
import { Punctual } from "./punctual.ts";

/** A stack with one scheduler and nothing else, whose outputs name what a user works with. */
export class PunctualStack extends Stack {
  readonly punctual: Punctual;

  constructor(scope: Construct, id: string, props: PunctualProps & StackProps = {}) {
    super(scope, id, props);
    // A construct called Default leaves no trace in logical ids: the table is `Schedules`, not `SchedulerSchedules`.
    this.punctual = new Punctual(this, "Default", { ...props, deploymentName: props.deploymentName ?? this.stackName });
    const { schedules, occurrences, queue, deadLetterQueue, eventBus, scheduleSettings } = this.punctual;
    this.output(
      "SchedulesTable",
      schedules.tableName,
      "The table of definitions: put an item here to define a schedule",
    );
    this.output("OccurrencesTable", occurrences.tableName, "The table of runs, and their history");
    this.output("QueueUrl", queue.queueUrl, "The queue that runs go through");
    this.output("DeadLetterQueueUrl", deadLetterQueue.queueUrl, "The queue that holds a message for each dead letter");
    this.output("DeadLetterQueueName", deadLetterQueue.queueName, "That queue's name, as consoles list it");
    this.output("ScheduleSettings", scheduleSettings, "What schedules of this deployment are checked against");
    this.output("EventBusName", eventBus.eventBusName, "The event bus on which what becomes of runs is announced");
  }

  private output(name: string, value: string, description: string): void {
    new CfnOutput(this, name, { value, description });
  }
}
