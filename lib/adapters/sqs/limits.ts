/** The most entries of one SendMessageBatch (Amazon SQS API Reference, "SendMessageBatch"). */
export const SQS_BATCH_MAX = 10;

/** The largest message, attributes included, and the largest sum of a batch's messages, in bytes: 1 MiB (as above). */
export const SQS_SIZE_MAX_BYTES = 1_048_576;

/** The most attributes of a message (Amazon SQS Developer Guide, "Amazon SQS message metadata"). */
export const SQS_ATTRIBUTES_MAX = 10;

/** The type of every attribute sent; its name counts towards the message's size, as do the attribute's name and value. */
export const ATTRIBUTE_TYPE = "String";

/** The longest attribute value sent, in UTF-16 units. The limit is ours: attributes are for people's eyes in a console. */
export const ATTRIBUTE_VALUE_MAX_CHARACTERS = 1_024;

/** What a message counts towards SQS's limits, in bytes: its body and each attribute's name, type and value, as UTF-8. */
export function messageBytes(body: string, attributes: Readonly<Record<string, string>>): number {
  const texts = Object.entries(attributes).flatMap(([name, value]) => [name, ATTRIBUTE_TYPE, value]);
  return [body, ...texts].reduce((bytes, text) => bytes + Buffer.byteLength(text), 0);
}
