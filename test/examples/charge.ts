import { type JobContext, PermanentError, RetryableError } from "@punctual/aws/jobs";

/** Charges a customer by an API that takes an idempotency key: it answers a repeat with what the first request came to. */
export async function charge(
  url: string,
  order: { readonly customer: string; readonly cents: number },
  { idempotencyKey, signal }: Pick<JobContext, "idempotencyKey" | "signal">,
): Promise<unknown> {
  const response = await fetch(url, {
    method: "POST",
    // The OccurrenceId: the same on every attempt, another for every run.
    headers: { "idempotency-key": idempotencyKey, "content-type": "application/json" },
    body: JSON.stringify(order),
    signal,
  });
  if (response.ok) return response.json();
  const problem = `${response.status}: ${await response.text()}`;
  // 409: the first request with this key is still at work.
  const isTemporary = response.status >= 500 || response.status === 429 || response.status === 409;
  throw isTemporary ? new RetryableError(problem) : new PermanentError(problem);
}
