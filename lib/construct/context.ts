import { Duration, RemovalPolicy } from "aws-cdk-lib";
import * as z from "zod";
import { formatProblems } from "../core/errors.ts";
import { problemsOf } from "../core/validation.ts";
import { LOG_LEVELS, OPTIONAL_ANNOUNCEMENTS } from "../runtime/env.ts";
import { InvalidDeploymentError } from "./errors.ts";
import { readQueuesFile } from "./queues-file.ts";
import type { PunctualStackProps } from "./stack.ts";

const text = z.string("must be text").min(1, "must not be empty");
/** `-c name=5` gives text, `cdk.json` may give a number. */
const rule = "must be a positive whole number";
const wholeNumber = z.coerce.number(rule).int(rule).positive(rule);
/** As above: text, or what it stands for. */
const trueOrFalse = z.coerce
  .string()
  .pipe(z.enum(["true", "false"], "must be true or false"))
  .transform((text) => text === "true");
const announcement = z.enum(OPTIONAL_ANNOUNCEMENTS, `must be a list of ${OPTIONAL_ANNOUNCEMENTS.join(", ")}`);

/** Texts with commas between them, as `-c` gives a list. */
const list = text.transform((all) => all.split(","));
/** AWS Lambda API Reference, "AddPermission": a function's name or ARN, with a version or an alias. */
const FUNCTION = /^(arn:[a-z-]+:lambda:[a-z0-9-]+:\d{12}:function:)?[A-Za-z0-9_-]{1,64}(:[A-Za-z0-9$_-]+)?$/;
const functionName = z.string().regex(FUNCTION, "must be a list of functions' names or ARNs");

const schema = z.object({
  stack: text.default("Punctual"),
  jobs: z.exactOptional(text),
  bundles: z.exactOptional(text),
  deploymentName: z.exactOptional(text),
  shards: z.exactOptional(wholeNumber),
  dispatchers: z.exactOptional(wholeNumber),
  historyDays: z.exactOptional(wholeNumber.transform(Duration.days)),
  consumerTimeoutSeconds: z.exactOptional(wholeNumber.transform(Duration.seconds)),
  announce: z.exactOptional(list.pipe(z.array(announcement))),
  queues: z.exactOptional(z.string("must be a file").min(1, "must be a file")),
  httpAllowedHosts: z.exactOptional(list),
  lambdaFunctions: z.exactOptional(list.pipe(z.array(functionName))),
  eventJobSource: z.exactOptional(text),
  metricsBySchedule: z.exactOptional(trueOrFalse),
  logLevel: z.exactOptional(z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(", ")}`)),
  data: z.enum(["keep", "destroy"], "must be keep or destroy").default("keep"),
});

/** The names that the stock app reads from the CDK's context, as in `-c shards=16`. */
const CONTEXT_NAMES: readonly string[] = Object.keys(schema.shape);

/** What the stock app is set up with. */
export interface AppSettings {
  readonly stackName: string;
  readonly props: PunctualStackProps;
}

/** The CDK's own names, and those of features and cached look-ups, have these in them; no setting of this app does. */
const CDKS_OWN = /[:/@]/;

/**
 * Reads the stock app's settings from the CDK's context. Throws {@link InvalidDeploymentError} naming every value that
 * cannot be used, and every name that is nobody's: most likely it is a slip of the pen.
 */
export function settingsFromContext(context: Readonly<Record<string, unknown>>): AppSettings {
  const given = Object.fromEntries(
    CONTEXT_NAMES.flatMap((name) => (context[name] === undefined ? [] : [[name, context[name]]])),
  );
  const unknown = Object.keys(context)
    .filter((name) => !CDKS_OWN.test(name) && !CONTEXT_NAMES.includes(name))
    .map((name) => ({ path: name, message: `is no setting of this app; it has ${CONTEXT_NAMES.join(", ")}` }));
  const parsed = schema.safeParse(given);
  if (!parsed.success || unknown.length > 0)
    throw new InvalidDeploymentError(
      `context is not valid: ${formatProblems([...(parsed.success ? [] : problemsOf(parsed.error, given)), ...unknown])}`,
    );
  const { stack, data, historyDays, consumerTimeoutSeconds, queues, lambdaFunctions, ...props } = parsed.data;
  return {
    stackName: stack,
    props: {
      ...props,
      ...(queues !== undefined && readQueuesFile(queues)),
      ...(lambdaFunctions && { lambdaFunctionNames: lambdaFunctions }),
      ...(historyDays && { history: historyDays }),
      ...(consumerTimeoutSeconds && { consumerTimeout: consumerTimeoutSeconds }),
      ...(data === "destroy" && { removalPolicy: RemovalPolicy.DESTROY }),
    },
  };
}
