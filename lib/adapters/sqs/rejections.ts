import { DEAD_LETTER_QUEUE, type SendVerdict } from "../../app/ports.ts";
import { shown } from "../../core/validation.ts";
import { SQS_SIZE_MAX_BYTES } from "./limits.ts";

/** No later try can mend this: the deployment has no such queue, and a schedule put again with another is another version. */
export function unknownQueue(name: string, known: readonly string[]): SendVerdict {
  const names = known.filter((queue) => queue !== DEAD_LETTER_QUEUE).join(", ");
  return {
    kind: "rejected",
    error: { name: "UnknownQueue", message: `queue must be one of ${names}, got ${shown(name)}` },
  };
}

/** A single message beyond SQS's limit. */
export const tooLarge = (bytes: number): SendVerdict => ({
  kind: "rejected",
  error: {
    name: "MessageTooLarge",
    message: `message must be at most ${SQS_SIZE_MAX_BYTES} bytes with its attributes, got ${bytes}`,
  },
});

/** A body with characters that SQS refuses. */
export const unacceptableText: SendVerdict = {
  kind: "rejected",
  error: { name: "InvalidMessageContents", message: "the body must hold only characters that SQS accepts" },
};
