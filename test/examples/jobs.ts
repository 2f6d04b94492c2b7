import { type JobMap, PermanentError, RetryableError } from "@punctual/aws/jobs";

const jobs: JobMap = {
  report: async (payload, { occurrence, idempotencyKey, isLastAttempt, signal, logger }) => {
    const response = await fetch("https://reports.example.com/render", {
      method: "POST",
      // The same on every attempt: the service can tell a repeat from a new request.
      headers: { "idempotency-key": idempotencyKey },
      body: JSON.stringify({ payload, day: occurrence.scheduledFor }),
      signal,
    });
    if (response.status === 503) throw new RetryableError("busy", { retryAfterSeconds: 30 });
    if (response.status === 400) throw new PermanentError(`refused: ${await response.text()}`);
    logger.info("rendered", { isLastAttempt });
    return { status: response.status };
  },
};

export default jobs;
