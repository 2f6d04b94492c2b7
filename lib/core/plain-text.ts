/**
 * What SQS does not take in a body or an attribute (Amazon SQS API Reference, "SendMessage": allowed are #x9, #xA, #xD,
 * #x20 to #xD7FF, #xE000 to #xFFFD, #x10000 to #x10FFFF). Lone surrogates are among it, which DynamoDB cannot keep either.
 */
const REFUSED = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;

const REPLACEMENT_CHARACTER = "\uFFFD";
const ELLIPSIS = "…";

/** `text` as every store and queue accepts it: each refused character becomes U+FFFD. */
export const acceptableText = (text: string): string => text.replace(REFUSED, REPLACEMENT_CHARACTER);

/** Whether `text` holds nothing that SQS refuses. */
export const isAcceptableText = (text: string): boolean => text.search(REFUSED) === -1;

/** `text` in at most `maxCharacters` (UTF-16 units), never cut inside a surrogate pair; a cut shows as `…`. */
export function boundedText(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  const end = maxCharacters - ELLIPSIS.length;
  const splitsPair = /[\uD800-\uDBFF]/.test(text.charAt(end - 1));
  return text.slice(0, splitsPair ? end - 1 : end) + ELLIPSIS;
}
