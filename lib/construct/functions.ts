import { join } from "node:path";
import { Duration, RemovalPolicy } from "aws-cdk-lib";
import { Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Architecture, Code, Function as LambdaFunction, Runtime } from "aws-cdk-lib/aws-lambda";
import { LogGroup, type RetentionDays } from "aws-cdk-lib/aws-logs";
import type { Construct } from "constructs";
import { DISPATCHER } from "../core/timing.ts";
import type { FunctionName } from "../runtime/names.ts";

/** What one function is given. */
interface Size {
  readonly memorySize: number;
  readonly timeout: Duration;
}

/** How one function differs from the others. */
interface FunctionSettings extends Size {
  readonly id: string;
  readonly description: string;
  readonly retryAttempts?: number;
  readonly maxEventAge?: Duration;
}

/** What all functions share, and what a deployment decides for its consumer. */
export interface FunctionsProps {
  /** `<function>/index.mjs` each. */
  readonly bundles: string;
  readonly environment: Record<string, string>;
  readonly logRetention: RetentionDays;
  readonly consumer: Size;
}

/** The four functions by name. */
export type Functions = Readonly<Record<FunctionName, LambdaFunction>>;

/**
 * An asynchronous invocation comes from a rule here, and a tick is worth nothing a minute later: no retries, and the
 * shortest age there is (AWS Lambda API Reference, "PutFunctionEventInvokeConfig": at least 60 seconds).
 */
export const TICK = { retryAttempts: 0, maxEventAge: Duration.seconds(60) } as const;

/** The four functions, each with a role and a log group of its own. */
export function createFunctions(scope: Construct, props: FunctionsProps): Functions {
  return {
    dispatcher: createFunction(scope, "dispatcher", props, {
      ...TICK,
      id: "Dispatcher",
      description: "Claims what is due and sends it, for the minute of its tick",
      memorySize: 512,
      timeout: Duration.seconds(DISPATCHER.timeoutSeconds),
    }),
    consumer: createFunction(scope, "consumer", props, {
      ...props.consumer,
      id: "Consumer",
      description: "Runs jobs and records what became of them",
    }),
    reconciler: createFunction(scope, "reconciler", props, {
      ...TICK,
      id: "Reconciler",
      description: "Keeps every schedule's next firing in place, and sweeps hourly",
      memorySize: 512,
      // Its sweep walks through every schedule.
      timeout: Duration.minutes(5),
    }),
    notifier: createFunction(scope, "notifier", props, {
      id: "Notifier",
      description: "Announces what becomes of occurrences",
      memorySize: 256,
      timeout: Duration.minutes(1),
    }),
  };
}

function createFunction(
  scope: Construct,
  name: FunctionName,
  { bundles, environment, logRetention }: FunctionsProps,
  { id, ...settings }: FunctionSettings,
): LambdaFunction {
  const logGroup = new LogGroup(scope, `${id}Logs`, { retention: logRetention, removalPolicy: RemovalPolicy.DESTROY });
  const role = new Role(scope, `${id}Role`, { assumedBy: new ServicePrincipal("lambda.amazonaws.com") });
  logGroup.grantWrite(role);
  return new LambdaFunction(scope, id, {
    ...settings,
    runtime: Runtime.NODEJS_24_X,
    architecture: Architecture.ARM_64,
    code: Code.fromAsset(join(bundles, name)),
    handler: "index.handler",
    environment,
    role,
    logGroup,
  });
}
