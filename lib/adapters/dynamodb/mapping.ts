import * as z from "zod";
import { MalformedRowError } from "../../app/errors.ts";
import type { ScheduleItem } from "../../app/ports.ts";
import { isInstant } from "../../core/instant.ts";
import {
  CANCEL_REASONS,
  DEAD_LETTER_REASONS,
  type DueRow,
  OCCURRENCE_KINDS,
  OCCURRENCE_STATUSES,
  type Occurrence,
  type OccurrenceKey,
  SKIP_REASONS,
} from "../../core/occurrence.ts";
import { problemsOf } from "../../core/validation.ts";
import { type Item, plainItem } from "./attribute-value.ts";

const INSTANT_RULE = "must be whole milliseconds since the epoch";
const at = z.number(INSTANT_RULE).refine(isInstant, INSTANT_RULE);
const count = z.int("must be a whole number").min(0, "must not be negative");
const text = z.string("must be text");
const number = z.number("must be a number");
const recordedError = z.object({ name: text, message: text });

const misfireDecision = z.object({
  policy: z.enum(["coalesce", "all", "skip"]),
  count,
  more: z.boolean(),
  from: at,
  to: at,
});

const dueShape = {
  scheduleId: text,
  firing: text,
  occurrenceId: text,
  kind: z.enum(OCCURRENCE_KINDS),
  status: z.enum(OCCURRENCE_STATUSES),
  scheduledFor: at,
  dueAt: z.exactOptional(at),
  shard: count,
  attempts: count,
  maxAttempts: count,
  fencingToken: count,
  owner: z.exactOptional(text),
  leaseUntil: z.exactOptional(at),
  firstDueAt: at,
  startDeadlineSeconds: number,
  scheduleVersion: text,
  queue: text,
  suspect: z.exactOptional(z.boolean()),
  misfire: z.exactOptional(misfireDecision),
  overlap: z.enum(["allow", "skip", "wait", "replace"]),
};

const logEntry = z.object({
  token: count,
  attempt: count,
  startedAt: at,
  endedAt: z.exactOptional(at),
  error: z.exactOptional(recordedError),
  logs: z.exactOptional(text),
});

const occurrenceKey: z.ZodType<OccurrenceKey> = z.object({ scheduleId: text, firing: text });

const dueRow: z.ZodType<DueRow> = z.object(dueShape);

const occurrence: z.ZodType<Occurrence> = z.object({
  ...dueShape,
  payload: text,
  job: text,
  retry: z.object({
    maxAttempts: count,
    baseDelaySeconds: number,
    multiplier: number,
    maxDelaySeconds: number,
    jitter: z.boolean(),
  }),
  timeoutSeconds: number,
  timezone: text,
  misfirePolicy: z.object({
    policy: z.enum(["coalesce", "all", "skip"]),
    graceSeconds: number,
    catchupWindowSeconds: number,
  }),
  log: z.array(logEntry),
  createdAt: at,
  claimedAt: z.exactOptional(at),
  startedAt: z.exactOptional(at),
  endedAt: z.exactOptional(at),
  output: z.exactOptional(text),
  outputDropped: z.exactOptional(z.boolean()),
  skipReason: z.exactOptional(z.enum(SKIP_REASONS)),
  cancelReason: z.exactOptional(z.enum(CANCEL_REASONS)),
  settles: z.exactOptional(z.boolean()),
  deadLetterReason: z.exactOptional(z.enum(DEAD_LETTER_REASONS)),
  lastError: z.exactOptional(recordedError),
  deadLetterShard: z.exactOptional(count),
  deadLetteredAt: z.exactOptional(at),
  announcedAt: z.exactOptional(at),
  enqueuedToken: z.exactOptional(count),
  expiresAtSeconds: z.exactOptional(count),
});

const scheduleItem: z.ZodType<ScheduleItem> = z.looseObject({ scheduleId: text });

/** An item read back: a row, or what is wrong with it. A row that nobody can read must not stop its neighbours. */
export type Mapped<Row> =
  | { readonly kind: "row"; readonly row: Row }
  | { readonly kind: "malformed"; readonly error: MalformedRowError };

/** What the due index shows of a row. */
export const dueRowFrom = (item: Item): Mapped<DueRow> => mapped(dueRow, item);

/** The key of a row, which is all that the dead-letter index is sure to show. */
export const occurrenceKeyFrom = (item: Item): Mapped<OccurrenceKey> => mapped(occurrenceKey, item);

/** A whole row of the Occurrences table, also as a stream record's image carries it. */
export const occurrenceFrom = (item: Item): Mapped<Occurrence> => mapped(occurrence, item);

/** An item of the Schedules table, unvalidated but for its key: what it says is `parseSchedule`'s to judge. */
export const scheduleItemFrom = (item: Item): Mapped<ScheduleItem> => mapped(scheduleItem, item);

/** An item as `schema` reads it. */
export function mapped<Row>(schema: z.ZodType<Row>, item: Item): Mapped<Row> {
  const plain = plainItem(item);
  const parsed = schema.safeParse(plain);
  if (parsed.success) return { kind: "row", row: parsed.data };
  const key = `${String(plain["scheduleId"])}@${String(plain["firing"])}`;
  return { kind: "malformed", error: new MalformedRowError(key, problemsOf(parsed.error, plain)) };
}
