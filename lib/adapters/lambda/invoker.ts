import type {
  InvokeCommandOutput,
  LambdaClient,
  LambdaClientConfig,
  LambdaServiceException,
} from "@aws-sdk/client-lambda";
import * as z from "zod";
import type { FunctionCall, FunctionInvoker, InvokeVerdict } from "../../app/function-invoker.ts";

/** How long a connection may take to stand. An answer takes as long as the function does: the call's signal ends the wait. */
const CONNECTION_TIMEOUT_MS = 2_000;

/** Faults of the call itself, which the same call meets again (AWS Lambda API Reference, "Invoke": Errors). */
const PERMANENT: ReadonlySet<string> = new Set([
  "InvalidParameterValueException",
  "InvalidRequestContentException",
  "RequestTooLargeException",
  "ResourceNotFoundException",
  "UnsupportedMediaTypeException",
]);

/**
 * Faults of 5xx that kept Lambda from running the function (AWS Lambda API Reference, "Invoke": Errors, "Error codes are
 * reserved for errors that prevent your function from executing"). Of any other, such as `ServiceException`, nobody knows.
 */
const NOT_RUN = /^(EC2|ENI|KMS|SubnetIP|ResourceNotReady|Invalid(Runtime|SecurityGroupID|SubnetID|ZipFile))/;

/** What Lambda tells with a throttled call (AWS Lambda API Reference, "TooManyRequestsException"). */
const throttled = z.object({ retryAfterSeconds: z.coerce.number().nonnegative() });

/** What a function's runtime tells of its failure (AWS Lambda Developer Guide, "Lambda function errors in Node.js"). */
const functionFailure = z.object({ errorType: z.string().optional(), errorMessage: z.string().optional() });

type Sdk = typeof import("@aws-sdk/client-lambda");

/** A client with what a caller knows of where Lambda is, and the SDK it came from, for commands and errors. */
type Loaded = {
  readonly client: Pick<LambdaClient, "send">;
  readonly sdk: Pick<Sdk, "InvokeCommand" | "LambdaServiceException">;
};

/** Loads the SDK when something is first invoked: most deployments invoke nothing, and a cold start must not pay for it. */
export const loadLambda = async (
  config: Pick<LambdaClientConfig, "endpoint" | "region" | "credentials">,
): Promise<Loaded> => {
  const sdk = await import("@aws-sdk/client-lambda");
  const client = new sdk.LambdaClient({
    // A repeated call is a second run of the function: whoever called decides on that.
    maxAttempts: 1,
    requestHandler: { connectionTimeout: CONNECTION_TIMEOUT_MS },
    ...config,
  });
  return { client, sdk };
};

/** Invokes functions of AWS Lambda and waits for what they return. Never throws: what failed is an answer. */
export function createFunctionInvoker(load: () => Promise<Loaded>): FunctionInvoker {
  let loading: Promise<Loaded> | undefined;
  const loaded = (): Promise<Loaded> => {
    loading ??= load().catch((error: unknown) => {
      // The next call tries again.
      loading = undefined;
      throw error;
    });
    return loading;
  };
  return {
    invoke: async (call) => {
      try {
        return await invokeWith(await loaded(), call);
      } catch (thrown) {
        return { kind: "refused", permanent: false, error: errorOf(thrown) };
      }
    },
  };
}

/** Throws where there is nothing to be sent. */
async function invokeWith(
  { client, sdk }: Loaded,
  { functionArn, payload, custom, signal }: FunctionCall,
): Promise<InvokeVerdict> {
  const command = new sdk.InvokeCommand({
    FunctionName: functionArn,
    InvocationType: "RequestResponse",
    ClientContext: Buffer.from(JSON.stringify({ custom })).toString("base64"),
    Payload: Buffer.from(payload),
  });
  try {
    return verdictOf(await client.send(command, { abortSignal: signal }));
  } catch (thrown) {
    return thrown instanceof sdk.LambdaServiceException ? refusalBy(thrown) : unanswered(thrown);
  }
}

function refusalBy(error: LambdaServiceException): InvokeVerdict {
  const { httpStatusCode = 0 } = error.$metadata;
  const isDefinite = (httpStatusCode >= 400 && httpStatusCode < 500) || NOT_RUN.test(error.name);
  if (!isDefinite) return unanswered(error);
  if (PERMANENT.has(error.name)) return { kind: "refused", permanent: true, error };
  const told = throttled.safeParse(error);
  return {
    kind: "refused",
    permanent: false,
    error,
    ...(told.success && { retryAfterSeconds: told.data.retryAfterSeconds }),
  };
}

const unanswered = (thrown: unknown): InvokeVerdict => ({ kind: "unanswered", error: errorOf(thrown) });

const errorOf = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)));

function verdictOf({ FunctionError, Payload }: Pick<InvokeCommandOutput, "FunctionError" | "Payload">): InvokeVerdict {
  const value = jsonIn(Payload);
  if (FunctionError === undefined) return { kind: "returned", value };
  const { errorType = FunctionError, errorMessage = "no message" } = functionFailure.safeParse(value).data ?? {};
  return { kind: "failed", error: { name: errorType, message: errorMessage } };
}

/** What a function returns is JSON, but for one with a runtime of its own, which may return any bytes. */
function jsonIn(payload: Uint8Array | undefined): unknown {
  const text = Buffer.from(payload ?? []).toString();
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
