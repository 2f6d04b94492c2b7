import { DUE_INDEX_ATTRIBUTES, type Occurrence } from "./occurrence.ts";

/** Index of Occurrences: `shard`, `dueAt`. Sparse, since finished rows carry no `dueAt`. */
export const DUE_INDEX = "due";

/** Index of Occurrences: `deadLetterShard`, `deadLetteredAt`. Sparse: open dead letters only. */
export const DEAD_LETTER_INDEX = "dead-letters";

/** Index of Schedules: `group`, `scheduleId`. Sparse: schedules that name a group. */
export const GROUP_INDEX = "group";

/** The attribute of Occurrences by which DynamoDB's TTL removes rows: epoch *seconds*, on finished rows only. */
export const TTL_ATTRIBUTE = "expiresAtSeconds" satisfies keyof Occurrence;

/** What a listing of dead letters shows, beyond the keys of table and index: what the dead-letter index projects. */
export const DEAD_LETTER_INDEX_ATTRIBUTES = [
  "occurrenceId",
  "kind",
  "status",
  "scheduledFor",
  "shard",
  "attempts",
  "maxAttempts",
  "fencingToken",
  "deadLetterReason",
  "lastError",
  "job",
  "queue",
  "scheduleVersion",
  "startedAt",
  "endedAt",
] as const satisfies readonly (keyof Occurrence)[];

/** `NonKeyAttributes` of one index (Amazon DynamoDB API Reference, "Projection": at most 20 items). */
export const PROJECTED_ATTRIBUTES_MAX = 20;

/** What each index of Occurrences projects. */
export const PROJECTIONS = {
  [DUE_INDEX]: DUE_INDEX_ATTRIBUTES,
  [DEAD_LETTER_INDEX]: DEAD_LETTER_INDEX_ATTRIBUTES,
} as const;
