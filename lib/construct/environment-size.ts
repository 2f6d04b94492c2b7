import { Tokenization } from "aws-cdk-lib";
import { InvalidDeploymentError } from "./errors.ts";

/** AWS Lambda quotas, "Environment variables": 4 KB for all of a function's together. */
const ENVIRONMENT_MAX_BYTES = 4_096;

/** What only CloudFormation knows is at most about so long: a queue's URL with a name of 80 characters. */
const RESOLVED_BYTES = 134;

/** Throws {@link InvalidDeploymentError} where a function could not take `environment`, which a deployment would find out halfway. */
export function assertEnvironmentFits(environment: Readonly<Record<string, string>>): void {
  const bytes = Object.entries(environment).reduce((sum, [name, value]) => sum + name.length + bytesOf(value), 0);
  if (bytes > ENVIRONMENT_MAX_BYTES)
    throw new InvalidDeploymentError(
      `the functions' environment must be at most ${ENVIRONMENT_MAX_BYTES} bytes, got about ${bytes}: name fewer or shorter queues, hosts and functions`,
    );
}

function bytesOf(value: string): number {
  const resolved = Tokenization.reverseString(value).mapTokens({ mapToken: () => "x".repeat(RESOLVED_BYTES) });
  const text: unknown = resolved.join({ join: (left, right) => `${left ?? ""}${right ?? ""}` });
  return Buffer.byteLength(String(text ?? ""));
}
