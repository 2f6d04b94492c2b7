import * as z from "zod";

/** Lambda Developer Guide, "Reporting batch item failures": an answer without a list, or with an empty one, is a success. */
const response = z.object({ batchItemFailures: z.array(z.object({ itemIdentifier: z.string() })).nullish() }).nullish();

/**
 * The identifiers that a function's answer names as failed. An answer that is malformed, or names something outside the
 * batch, fails the whole batch, as in Lambda.
 */
export function failedItems(answer: unknown, batch: readonly string[]): ReadonlySet<string> {
  const { success, data } = response.safeParse(answer);
  if (!success) return new Set(batch);
  const failed = new Set((data?.batchItemFailures ?? []).map(({ itemIdentifier }) => itemIdentifier));
  return [...failed].every((id) => batch.includes(id)) ? failed : new Set(batch);
}
