import { createHash } from "node:crypto";
import { NIL, parse, v5, validate } from "uuid";
import type { Instant } from "./instant.ts";

/** The project's own UUID namespace (RFC 9562, section 6.6): fixed for ever, since every OccurrenceId follows from it. */
const PROJECT_NAMESPACE = v5("punctual", NIL);

/**
 * The namespace of a schedule's OccurrenceIds: its own id where that is a UUID as RFC 9562 (section 4) writes one, in lower
 * case, else the UUIDv5 of its id. One UUID in other letters is another schedule, and must not share identities with it.
 */
const namespaceOf = (scheduleId: string): string =>
  validate(scheduleId) && scheduleId === scheduleId.toLowerCase() ? scheduleId : v5(scheduleId, PROJECT_NAMESPACE);

/**
 * The identity of a schedule's run at a nominal instant: UUIDv5 (RFC 9562, section 5.5) of the signed millisecond offset
 * from the Unix epoch. Same schedule, same instant: same id, in every process and on every redelivery.
 */
export const occurrenceIdAt = (scheduleId: string, scheduledFor: Instant): string =>
  v5(String(scheduledFor), namespaceOf(scheduleId));

/** The identity of a run that somebody asked for, from the caller's own key. */
export const manualOccurrenceId = (scheduleId: string, key: string): string =>
  v5(manualFiring(key), namespaceOf(scheduleId));

/** The sort key of a manual run. */
export const manualFiring = (key: string): string => `manual#${key}`;

/** The shard that an occurrence lies on, of `shardCount`. */
export function shardOf(occurrenceId: string, shardCount: number): number {
  const bytes = parse(occurrenceId);
  const high = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(0);
  return high % shardCount;
}

/** The deduplication (and group) id of a message: the bare OccurrenceId at token 1, `<OccurrenceId>:<token>` later. */
export const deduplicationId = (occurrenceId: string, fencingToken: number): string =>
  fencingToken === 1 ? occurrenceId : `${occurrenceId}:${fencingToken}`;

/** The deduplication id of a dead letter's message. */
export const deadLetterDeduplicationId = (occurrenceId: string, fencingToken: number): string =>
  `dead:${occurrenceId}:${fencingToken}`;

/** SHA-256 of the canonical JSON of `value` (keys sorted at every depth), in hex, cut to 16 characters: 64 bits. */
export const contentHash = (value: unknown): string =>
  createHash("sha256")
    .update(JSON.stringify(canonical(value)))
    .digest("hex")
    .slice(0, 16);

function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([, member]) => member !== undefined);
  entries.sort(([left], [right]) => (left < right ? -1 : 1));
  return Object.fromEntries(entries.map(([key, member]) => [key, canonical(member)]));
}
