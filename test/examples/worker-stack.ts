import { Punctual } from "@punctual/aws/cdk";
import { App, Duration, Stack } from "aws-cdk-lib";
import { ContainerImage, FargateTaskDefinition } from "aws-cdk-lib/aws-ecs";

const stack = new Stack(new App(), "Reports");
const punctual = new Punctual(stack, "Scheduler", { queues: { reports: { consumer: false } } });
const task = new FargateTaskDefinition(stack, "Worker", { cpu: 512, memoryLimitMiB: 1024 });
task.addContainer("worker", {
  image: ContainerImage.fromAsset("worker"),
  environment: punctual.workerEnvironment,
  stopTimeout: Duration.seconds(60), // longer than the worker's grace
});
punctual.grantWork(task.taskRole, "reports");
