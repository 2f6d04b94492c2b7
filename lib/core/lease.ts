/**
 * The lengths that leases, deadlines and retention have. Kept in one place because they must fit together: `timing.ts`
 * says how and checks it.
 */
export const LEASES = {
  /** How long a dispatcher has from its claim until SQS has answered. */
  claimLeaseMs: 60_000,
  /** How long a message that SQS is known to hold is left alone: a backlog burns no attempts. */
  queueLeaseMs: 3_600_000,
  /** How long a runner may work without renewing: a crash at work is noticed within this. */
  runLeaseMs: 30_000,
  /** How often a runner renews: three times within what it trusts of its lease, so that two lost renewals cost nothing. */
  renewEveryMs: 9_000,
  /** What a runner takes off its own lease before it trusts it: the store's clock and its own differ by less. */
  leaseMarginMs: 2_000,
  /** Backoff after SQS refused a send: doubled with every refusal in a row, up to the maximum. */
  releaseBaseMs: 1_000,
  releaseMaxMs: 60_000,
} as const;

/** How long finished rows are kept before DynamoDB's TTL may remove them. */
export const DEFAULT_HISTORY_SECONDS = 30 * 86_400;
