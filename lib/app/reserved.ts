/**
 * Keys that start so are the system's own rows in the Occurrences table (a schedule's id cannot). They carry no `shard`, and
 * no history shows them.
 */
export const INTERNAL_PREFIX = "#";

/** The row that keeps the most shards ever in use, so that a smaller number, or a rollback, strands nothing. */
export const HIGH_WATER_KEY = { scheduleId: "#shards", firing: "#high-water" } as const;

/** The row that keeps where a sweep stopped that did not come to its end. */
export const SWEEP_KEY = { scheduleId: "#sweep", firing: "#cursor" } as const;

/** The row of a schedule that says whose turn it is among its runs. */
export const GATE_FIRING = "#gate";

/** The lowest `firing` that is no internal row's: the code point after {@link INTERNAL_PREFIX}. */
export const FIRST_FIRING = "$";
