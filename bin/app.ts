import { App } from "aws-cdk-lib";
import { settingsFromContext } from "../lib/construct/context.ts";
import { PunctualStack } from "../lib/construct/index.ts";
import { PunctualError } from "../lib/core/errors.ts";

const app = new App();
/** What `-c`, cdk.json and the like have set. */
const contextOf = ({ node }: App): Readonly<Record<string, unknown>> => Object(node.getAllContext());
try {
  const { stackName, props } = settingsFromContext(contextOf(app));
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
