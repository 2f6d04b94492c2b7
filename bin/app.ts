import { App } from "aws-cdk-lib";
import { settingsFromContext } from "../lib/construct/context.ts";
import { PunctualStack } from "../lib/construct/index.ts";
import { PunctualError } from "../lib/core/errors.ts";

const app = new App();
try {
  const { stackName, props } = settingsFromContext((name) => app.node.tryGetContext(name));
  new PunctualStack(app, stackName, {
    ...props,
    description: "Punctual: schedules in DynamoDB, runs through SQS FIFO, dispatched at least once",
  });
} catch (error) {
  if (!(error instanceof PunctualError)) throw error;
  process.stderr.write(`${error.message}\n`);
  // Not exitCode: the CDK would go on to synthesize what there is.
  process.exit(1);
}
