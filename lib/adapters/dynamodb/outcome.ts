import { type BatchStatementError, DynamoDBServiceException } from "@aws-sdk/client-dynamodb";
import { StoreError } from "../../app/errors.ts";
import { errorMessage } from "../../core/errors.ts";

/** An answer that is no success, for one statement: the condition did not hold, the key stands already, or it went wrong. */
export interface Negative {
  readonly kind: "refused" | "exists" | "failed" | "unknown";
  readonly error: Error;
}

/** A request that did not succeed: DynamoDB definitely did nothing, or nobody knows. */
export interface RequestFailure extends Negative {
  readonly kind: "failed" | "unknown";
}

/**
 * What a thrown error says of the request's effect. Only an answer of DynamoDB's own that blames the request (4xx: throttling
 * included) to the only try says that nothing happened. No answer (timeout, connection reset), a 5xx, or an earlier try whose
 * fate the SDK does not tell: nobody knows.
 */
export function requestFailure(thrown: unknown): RequestFailure {
  const error = storeError(thrown);
  return { kind: onlyTryWasRefused(thrown) ? "failed" : "unknown", error };
}

function onlyTryWasRefused(thrown: unknown): boolean {
  if (!(thrown instanceof DynamoDBServiceException)) return false;
  const { httpStatusCode = 0, attempts = 1 } = thrown.$metadata;
  return attempts <= 1 && httpStatusCode >= 400 && httpStatusCode < 500;
}

/**
 * What one statement's error in a batch says, with `attempts` as the SDK counted the request's tries. After a second try a
 * negative verdict may be the echo of the first one's success; only `exists` stands, since whoever inserted a row of a
 * deterministic identity inserted this one.
 */
export function statementFailure({ Code, Message }: BatchStatementError, attempts: number): Negative {
  const error = new StoreError(`statement failed: ${Code ?? "no code"}: ${Message ?? "no message"}`);
  if (Code === "DuplicateItem") return { kind: "exists", error };
  if (attempts > 1 || Code === "InternalServerError") return { kind: "unknown", error };
  return { kind: Code === "ConditionalCheckFailed" ? "refused" : "failed", error };
}

/** `thrown` as the error that leaves this adapter; what it was stays as `cause`. */
export function storeError(thrown: unknown): StoreError {
  if (thrown instanceof StoreError) return thrown;
  const name = thrown instanceof Error ? `${thrown.name}: ` : "";
  return new StoreError(`DynamoDB request failed: ${name}${errorMessage(thrown)}`, { cause: thrown });
}

/** Awaits a request and wraps what it throws: for calls whose failure is an exception. */
export const orStoreError = <Result>(request: Promise<Result>): Promise<Result> =>
  request.catch((thrown: unknown) => {
    throw storeError(thrown);
  });
