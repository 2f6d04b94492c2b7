import { PunctualStack } from "@punctual/aws/cdk";
import { App, Duration } from "aws-cdk-lib";
import { Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";

const app = new App();
const { punctual } = new PunctualStack(app, "Punctual", {
  queues: {
    // A consumer function of its own: heavy jobs do not hold up light ones.
    reports: { consumerTimeout: Duration.minutes(15), consumerMemorySize: 1_769, retry: { maxAttempts: 3 } },
    // No function: workers in containers read it, and jobs may take hours.
    video: { consumer: false, timeoutMax: Duration.hours(6) },
    // Whatever reads SQS: a run is done once SQS has its message.
    legacy: { completion: "enqueued" },
  },
  httpAllowedHosts: ["api.example.com", "*.partner.example"],
  eventJobSource: "acme.jobs",
});

const task = new Role(punctual, "VideoTask", { assumedBy: new ServicePrincipal("ecs-tasks.amazonaws.com") });
punctual.grantWork(task, "video");
// The container's environment, which `createWorker` reads.
export const environment = punctual.workerEnvironment;
