import { Duration, RemovalPolicy } from "aws-cdk-lib";
import { Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Architecture, Code, Function as LambdaFunction, Runtime } from "aws-cdk-lib/aws-lambda";
import { LogGroup, type RetentionDays } from "aws-cdk-lib/aws-logs";
import type { Construct } from "constructs";
import { DISPATCHER } from "../core/timing.ts";
import type { FunctionName } from "../runtime/names.ts";
import type { ConsumerPlan } from "./queue-plan.ts";

/** How one function differs from the others. */
interface FunctionSettings {
  readonly memorySize: number;
  readonly timeout: Duration;
  readonly id: string;
  readonly description: string;
  readonly retryAttempts?: number;
  readonly maxEventAge?: Duration;
}

/** What all functions share. */
export interface FunctionsProps {
  readonly environment: Record<string, string>;
  readonly logRetention: RetentionDays;
}

/** A function's directory with its `index.mjs`. */
type BundleOf = (name: FunctionName) => string;

/** The four functions by name. */
export type Functions = Readonly<Record<FunctionName, LambdaFunction>>;

/**
 * An asynchronous invocation comes from a rule here, and a tick is worth nothing a minute later: no retries, and the
 * shortest age there is (AWS Lambda API Reference, "PutFunctionEventInvokeConfig": at least 60 seconds).
 */
export const TICK = { retryAttempts: 0, maxEventAge: Duration.seconds(60) } as const;

/** The four functions, each with a role and a log group of its own; the consumer is that of the default queue. */
export function createFunctions(
  scope: Construct,
  bundleOf: BundleOf,
  consumer: ConsumerPlan,
  props: FunctionsProps,
): Functions {
  return {
    consumer: createConsumer(scope, bundleOf("consumer"), consumer, props),
    dispatcher: createFunction(scope, bundleOf("dispatcher"), props, {
      ...TICK,
      id: "Dispatcher",
      description: "Claims what is due and sends it, for the minute of its tick",
      memorySize: 512,
      timeout: Duration.seconds(DISPATCHER.timeoutSeconds),
    }),
    reconciler: createFunction(scope, bundleOf("reconciler"), props, {
      ...TICK,
      id: "Reconciler",
      description: "Keeps every schedule's next firing in place, and sweeps hourly",
      memorySize: 512,
      // Its sweep walks through every schedule.
      timeout: Duration.minutes(5),
    }),
    notifier: createFunction(scope, bundleOf("notifier"), props, {
      id: "Notifier",
      description: "Announces what becomes of occurrences",
      memorySize: 256,
      timeout: Duration.minutes(1),
    }),
  };
}

/** The function that consumes one queue. */
export const createConsumer = (
  scope: Construct,
  bundle: string,
  { memorySize, timeoutSeconds }: ConsumerPlan,
  props: FunctionsProps,
): LambdaFunction =>
  createFunction(scope, bundle, props, {
    id: "Consumer",
    description: "Runs jobs and records what became of them",
    memorySize,
    timeout: Duration.seconds(timeoutSeconds),
  });

function createFunction(
  scope: Construct,
  bundle: string,
  { environment, logRetention }: FunctionsProps,
  { id, ...settings }: FunctionSettings,
): LambdaFunction {
  const logGroup = new LogGroup(scope, `${id}Logs`, { retention: logRetention, removalPolicy: RemovalPolicy.DESTROY });
  const role = new Role(scope, `${id}Role`, { assumedBy: new ServicePrincipal("lambda.amazonaws.com") });
  logGroup.grantWrite(role);
  return new LambdaFunction(scope, id, {
    ...settings,
    runtime: Runtime.NODEJS_24_X,
    architecture: Architecture.ARM_64,
    code: Code.fromAsset(bundle),
    handler: "index.handler",
    environment,
    role,
    logGroup,
  });
}
