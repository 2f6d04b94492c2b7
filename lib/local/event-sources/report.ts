import { errorMessage } from "../../core/errors.ts";

/** Something that went wrong around a function and that nobody's return value can say. */
export type EngineProblem =
  /** The function threw or timed out. */
  | { readonly kind: "invocation-failed"; readonly functionName: string; readonly error: unknown }
  /** A stand-in refused or did not answer; it is asked again. */
  | { readonly kind: "poll-failed"; readonly source: string; readonly error: unknown }
  /** Stream records were given up after their last retry. */
  | { readonly kind: "records-discarded"; readonly source: string; readonly count: number };

/** Takes note of problems. */
export type Report = (problem: EngineProblem) => void;

/** How long a source waits before it asks a stand-in again that did not answer. */
export const POLL_RETRY_PAUSE_MS = 1_000;

/** A problem in one line for people. */
export function describeProblem(problem: EngineProblem): string {
  switch (problem.kind) {
    case "invocation-failed":
      return `function ${problem.functionName} failed: ${errorMessage(problem.error)}`;
    case "poll-failed":
      return `${problem.source} did not answer, asking again: ${errorMessage(problem.error)}`;
    case "records-discarded":
      return `${problem.count} stream records of ${problem.source} were given up after their last retry`;
    default:
      return problem satisfies never;
  }
}
