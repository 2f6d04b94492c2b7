/** How the delays between tries grow. */
export interface Backoff {
  readonly baseDelaySeconds: number;
  readonly multiplier: number;
  readonly maxDelaySeconds: number;
  /** Full jitter: the delay is drawn uniformly from [0, the computed delay]. Off: the computed delay itself. */
  readonly jitter: boolean;
}

/** How a run that failed is tried again. `maxAttempts: 1` is none. */
export interface RetryPolicy extends Backoff {
  readonly maxAttempts: number;
}

/** Ten attempts, up to five minutes apart. */
export const DEFAULT_RETRY: RetryPolicy = {
  maxAttempts: 10,
  baseDelaySeconds: 1,
  multiplier: 2,
  maxDelaySeconds: 300,
  jitter: true,
};

/**
 * The delay in whole milliseconds before the attempt that follows `attempt` (1 for the first), with `random` in [0, 1).
 *
 * Exponential backoff with full jitter (Marc Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015):
 * uniform in [0, min(maxDelay, base * multiplier^(attempt - 1))], also once the maximum is reached. With the defaults the
 * upper bounds are 1, 2, 4, ... 256, 300, 300 s. `retryAfterSeconds`, the job's own wish, raises the result to at least that.
 */
export function retryDelayMs(policy: Backoff, attempt: number, random: number, retryAfterSeconds = 0): number {
  // 0 * Infinity is NaN: a base of zero stays zero however large the power has grown.
  const grown = policy.baseDelaySeconds === 0 ? 0 : policy.baseDelaySeconds * policy.multiplier ** (attempt - 1);
  const ceilingMs = Math.min(policy.maxDelaySeconds, grown) * 1000;
  const delayMs = policy.jitter ? ceilingMs * random : ceilingMs;
  return Math.ceil(Math.max(delayMs, retryAfterSeconds * 1000));
}
