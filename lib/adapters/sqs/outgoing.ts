import type { SendMessageBatchRequestEntry } from "@aws-sdk/client-sqs";
import type { OutgoingMessage } from "../../app/ports.ts";
import { acceptableText, boundedText } from "../../core/plain-text.ts";
import type { Sized } from "../batched.ts";
import { ATTRIBUTE_TYPE, ATTRIBUTE_VALUE_MAX_CHARACTERS, messageBytes, SQS_ATTRIBUTES_MAX } from "./limits.ts";

/** A message as it goes to SQS; `index` is its place among the messages that the caller handed over. */
export interface Outgoing extends Sized {
  readonly index: number;
  readonly entry: Omit<SendMessageBatchRequestEntry, "Id">;
}

/** `message` as an entry. Its group is its deduplication id: attempts never block each other. */
export function outgoing(message: OutgoingMessage, index: number): Outgoing {
  const attributes = acceptableAttributes(message.attributes ?? {});
  return {
    index,
    bytes: messageBytes(message.body, attributes),
    entry: {
      MessageBody: message.body,
      MessageGroupId: message.deduplicationId,
      MessageDeduplicationId: message.deduplicationId,
      ...(Object.keys(attributes).length > 0 && {
        MessageAttributes: Object.fromEntries(
          Object.entries(attributes).map(([name, StringValue]) => [name, { DataType: ATTRIBUTE_TYPE, StringValue }]),
        ),
      }),
    },
  };
}

/** The attributes as SQS takes them: refused characters replaced, long values cut, empty ones (which SQS refuses) and those beyond ten dropped. */
export const acceptableAttributes = (attributes: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(attributes)
      .map(([name, value]) => [name, boundedText(acceptableText(value), ATTRIBUTE_VALUE_MAX_CHARACTERS)] as const)
      .filter(([, value]) => value !== "")
      .slice(0, SQS_ATTRIBUTES_MAX),
  );
