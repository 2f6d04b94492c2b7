import { formatProblems, type Problem } from "../core/errors.ts";
import { PermanentError } from "./outcomes.ts";
import type { StandardIssue, StandardSchemaV1 } from "./standard-schema.ts";

/** The most problems that an error tells of. */
const PROBLEMS_MAX = 10;

/** `payload` as `schema` reads it. Throws a {@link PermanentError} that names the paths which are wrong: no retry mends a payload. */
export async function parsePayload<Payload>(
  schema: StandardSchemaV1<unknown, Payload>,
  payload: unknown,
): Promise<Payload> {
  const result = await schema["~standard"].validate(payload);
  if (result.issues === undefined) return result.value;
  throw new PermanentError(
    `the payload does not fit: ${formatProblems(result.issues.slice(0, PROBLEMS_MAX).map(problem))}`,
  );
}

const problem = ({ message, path = [] }: StandardIssue): Problem => ({
  path: ["payload", ...path.map((step) => String(typeof step === "object" ? step.key : step))].join("."),
  message,
});
