import { SQSServiceException } from "@aws-sdk/client-sqs";

/** Whose fault it is that SQS did not take a message. */
export type Fault =
  /** This message's, and for good. */
  | "message"
  /** The queue's, its key's, the caller's rights' or the moment's: it may go out later as it is. */
  | "queue"
  /** Nobody can tell whether SQS took it. */
  | "doubt";

/** Refusals for the moment. Entries carry these with `SenderFault: true`, so the code is looked at before the flag. */
const THROTTLED = /throttl|OverLimit|TooManyRequests|LimitExceeded/i;

/** Everything about the queue's KMS key, as `KmsDisabled` or, in the older protocol's codes, `KMS.DisabledException`. */
const KEY_FAULT = /^kms/i;

/**
 * What an operator got wrong and can mend: a queue deleted or a URL mistyped, rights that are missing, credentials that ran out. It
 * hits every message of the queue alike, so to fail them for good would turn a slip in a policy into a storm of dead letters;
 * refused, they wait with backoff, an alarm sees them, and they go out once the slip is mended.
 */
const OPERATORS_FAULTS: ReadonlySet<string> = new Set([
  "QueueDoesNotExist",
  "AWS.SimpleQueueService.NonExistentQueue",
  "QueueDeletedRecently",
  "InvalidAddress",
  "InvalidSecurity",
  "UnsupportedOperation",
  "AccessDenied",
  "AccessDeniedException",
  "ExpiredToken",
  "ExpiredTokenException",
  "IncompleteSignature",
  "InvalidClientTokenId",
  "InvalidSignatureException",
  "MissingAuthenticationToken",
  "NotAuthorized",
  "OptInRequired",
  "RequestExpired",
  "SignatureDoesNotMatch",
  "UnrecognizedClientException",
]);

/** What a message itself can be wrong in. For a whole batch it does not say which of its messages. */
const MESSAGE_FAULTS: ReadonlySet<string> = new Set([
  "InvalidMessageContents",
  "BatchRequestTooLong",
  "InvalidAttributeValue",
  "InvalidAttributeName",
  "InvalidParameterValue",
  "InvalidParameterCombination",
  "InvalidParameterException",
  "MissingParameter",
  "ValidationError",
  "ValidationException",
]);

/** Whose fault a failed entry of an answered batch is: SQS has spoken, so none is in doubt. */
export const entryFault = (code: string, senderFault: boolean): Exclude<Fault, "doubt"> =>
  senderFault && !isQueueFault(code) ? "message" : "queue";

/**
 * Whose fault it is that a whole request failed. Only an answer of SQS with a code known here is a definite one; timeouts,
 * resets, 5xx and whatever is new are in doubt.
 */
export function requestFault(error: unknown): Fault {
  if (!(error instanceof SQSServiceException) || error.$fault !== "client") return "doubt";
  if (isQueueFault(error.name)) return "queue";
  return MESSAGE_FAULTS.has(error.name) ? "message" : "doubt";
}

const isQueueFault = (code: string): boolean =>
  THROTTLED.test(code) || KEY_FAULT.test(code) || OPERATORS_FAULTS.has(code);
