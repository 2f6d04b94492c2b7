import * as z from "zod";
import type { FunctionInvoker } from "../../app/function-invoker.ts";
import { PermanentError, RetryableError } from "../outcomes.ts";
import type { CheckedJob, JobContext } from "../types.ts";

const payloadSchema = z.strictObject({
  function: z.string("must be a function's name or ARN").min(1, "must be a function's name or ARN"),
  /** The function's event. */
  payload: z.json("must be a JSON value").default({}),
});

/** What the `lambda` job's payload says. */
export type LambdaPayload = z.infer<typeof payloadSchema>;

/** What a deployment gives the `lambda` job. */
export interface LambdaJobOptions {
  /** The ARNs of the functions, versions and aliases that may be invoked. */
  readonly allowed: readonly string[];
  readonly functions: FunctionInvoker;
}

/**
 * The `lambda` job: invokes a function with the payload's event, waits, and returns what it returns. The run is named in the
 * client context (`custom`: occurrenceId, scheduleId, ..., all as text), so that the event is the function's own. A function that
 * fails, a throttle and a network that fails are retryable; a function that does not exist or an event that Lambda cannot read
 * is permanent. At the deadline the job stops to wait; the function goes on to its own timeout.
 */
export const createLambdaJob = ({ allowed, functions }: LambdaJobOptions): CheckedJob<LambdaPayload> => ({
  schema: payloadSchema,
  handler: async ({ function: name, payload }, context) => {
    const functionArn = allowed.find((arn) => arn === name || nameIn(arn) === name);
    if (functionArn === undefined) {
      const names = allowed.map(nameIn).join(", ");
      throw new PermanentError(
        `payload.function must be one of the deployment's lambdaFunctions (${names || "none"}), got ${name}`,
      );
    }
    context.signal.throwIfAborted();
    const call = { functionArn, payload: JSON.stringify(payload), custom: customOf(context), signal: context.signal };
    const verdict = await functions.invoke(call);
    context.signal.throwIfAborted();
    switch (verdict.kind) {
      case "returned":
        return verdict.value;
      case "failed":
        throw new RetryableError(`${name} failed: ${verdict.error.name}: ${verdict.error.message}`);
      case "unanswered":
        throw new RetryableError(`${name} did not answer; it may have run`, { cause: verdict.error });
      case "refused": {
        const { error: cause, retryAfterSeconds } = verdict;
        if (verdict.permanent) throw new PermanentError(`${name} cannot be invoked`, { cause });
        throw new RetryableError(`${name} was not invoked`, {
          cause,
          ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
        });
      }
      default:
        return verdict satisfies never;
    }
  },
});

/** `bill:live` of `arn:aws:lambda:eu-west-1:123456789012:function:bill:live`. */
const nameIn = (arn: string): string => arn.split(":").slice(6).join(":");

/** Text alone: runtimes hand the custom part over as a map of texts (AWS Lambda Developer Guide, "context object" in Java). */
const customOf = ({ occurrence, attempt, fencingToken }: JobContext): Record<string, string> => ({
  occurrenceId: occurrence.occurrenceId,
  scheduleId: occurrence.scheduleId,
  firing: occurrence.firing,
  kind: occurrence.kind,
  scheduledFor: occurrence.scheduledFor.toISOString(),
  attempt: String(attempt),
  fencingToken: String(fencingToken),
});
