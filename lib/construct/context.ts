import { Duration, RemovalPolicy } from "aws-cdk-lib";
import * as z from "zod";
import { formatProblems } from "../core/errors.ts";
import { problemsOf } from "../core/validation.ts";
import { LOG_LEVELS, OPTIONAL_ANNOUNCEMENTS } from "../runtime/env.ts";
import { InvalidDeploymentError } from "./errors.ts";
import type { PunctualProps } from "./props.ts";

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

const schema = z.object({
  stack: text.default("Punctual"),
  jobs: z.exactOptional(text),
  bundles: z.exactOptional(text),
  deploymentName: z.exactOptional(text),
  shards: z.exactOptional(wholeNumber),
  dispatchers: z.exactOptional(wholeNumber),
  historyDays: z.exactOptional(wholeNumber.transform(Duration.days)),
  consumerTimeoutSeconds: z.exactOptional(wholeNumber.transform(Duration.seconds)),
  announce: z.exactOptional(text.transform((list) => list.split(",")).pipe(z.array(announcement))),
  metricsBySchedule: z.exactOptional(trueOrFalse),
  logLevel: z.exactOptional(z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(", ")}`)),
  data: z.enum(["keep", "destroy"], "must be keep or destroy").default("keep"),
});

/** The names that the stock app reads from the CDK's context, as in `-c shards=16`. */
const CONTEXT_NAMES: readonly string[] = Object.keys(schema.shape);

/** What the stock app is set up with. */
export interface AppSettings {
  readonly stackName: string;
  readonly props: PunctualProps;
}

/**
 * Reads the stock app's settings from the CDK's context. Throws {@link InvalidDeploymentError} naming every value that
 * cannot be used.
 */
export function settingsFromContext(read: (name: string) => unknown): AppSettings {
  const context = Object.fromEntries(
    CONTEXT_NAMES.map((name) => [name, read(name)]).filter(([, value]) => value !== undefined),
  );
  const parsed = schema.safeParse(context);
  if (!parsed.success)
    throw new InvalidDeploymentError(`context is not valid: ${formatProblems(problemsOf(parsed.error, context))}`);
  const { stack, data, historyDays, consumerTimeoutSeconds, ...props } = parsed.data;
  return {
    stackName: stack,
    props: {
      ...props,
      ...(historyDays && { history: historyDays }),
      ...(consumerTimeoutSeconds && { consumerTimeout: consumerTimeoutSeconds }),
      ...(data === "destroy" && { removalPolicy: RemovalPolicy.DESTROY }),
    },
  };
}
