import { ArnFormat, CfnOutput, Stack, type StackProps } from "aws-cdk-lib";
import { type IFunction, Function as LambdaFunction } from "aws-cdk-lib/aws-lambda";
import type { Construct } from "constructs";
import type { PunctualProps } from "./props.ts";
import { Punctual } from "./punctual.ts";

/** How a stack of the scheduler differs from the stock one. */
export interface PunctualStackProps extends PunctualProps, StackProps {
  /**
   * More functions that the built-in job `lambda` may invoke: ARNs, or names in the stack's own account and region, each with
   * a version or alias (`name:live`) where it has one.
   * @default - none
   */
  readonly lambdaFunctionNames?: readonly string[];
}

/** A stack with one scheduler and nothing else, whose outputs name what a user works with. */
export class PunctualStack extends Stack {
  readonly punctual: Punctual;

  constructor(scope: Construct, id: string, props: PunctualStackProps = {}) {
    super(scope, id, props);
    const { lambdaFunctions = [], lambdaFunctionNames = [] } = props;
    const named = lambdaFunctionNames.map((name, index) => this.functionNamed(name, `LambdaFunction${index}`));
    // A construct called Default leaves no trace in logical ids: the table is `Schedules`, not `SchedulerSchedules`.
    this.punctual = new Punctual(this, "Default", {
      ...props,
      deploymentName: props.deploymentName ?? this.stackName,
      lambdaFunctions: [...lambdaFunctions, ...named],
    });
    const { schedules, occurrences, queue, deadLetterQueue, eventBus, scheduleSettings } = this.punctual;
    this.output(
      "SchedulesTable",
      schedules.tableName,
      "The table of definitions: put an item here to define a schedule",
    );
    this.output("OccurrencesTable", occurrences.tableName, "The table of runs, and their history");
    this.output("QueueUrl", queue.queueUrl, "The queue that runs go through");
    for (const name of Object.keys(props.queues ?? {}))
      this.output(
        `QueueUrl${inPascalCase(name)}`,
        this.punctual.queues[name]?.queueUrl ?? "",
        `The queue named ${name}`,
      );
    this.output("DeadLetterQueueUrl", deadLetterQueue.queueUrl, "The queue that holds a message for each dead letter");
    this.output("DeadLetterQueueName", deadLetterQueue.queueName, "That queue's name, as consoles list it");
    this.output("ScheduleSettings", scheduleSettings, "What schedules of this deployment are checked against");
    this.output("EventBusName", eventBus.eventBusName, "The event bus on which what becomes of runs is announced");
  }

  private functionNamed(name: string, id: string): IFunction {
    const own = { service: "lambda", resource: "function", resourceName: name };
    const arn = name.startsWith("arn:") ? name : this.formatArn({ ...own, arnFormat: ArnFormat.COLON_RESOURCE_NAME });
    return LambdaFunction.fromFunctionArn(this, id, arn);
  }

  private output(name: string, value: string, description: string): void {
    new CfnOutput(this, name, { value, description });
  }
}

/** `big-reports` as `BigReports`: an output's name holds letters and digits alone. */
const inPascalCase = (name: string): string =>
  name.replace(/(?:^|[_-]+)(.?)/g, (_, first: string) => first.toUpperCase());
