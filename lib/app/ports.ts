import type { Guard } from "../core/guard.ts";
import type { Instant } from "../core/instant.ts";
import type { Change } from "../core/machine.ts";
import type { DueRow, Occurrence, OccurrenceKey, OccurrenceStatus, RecordedError } from "../core/occurrence.ts";
import type { ScheduleStatus } from "../core/schedule.ts";

/**
 * The world as the engine needs it. Every port that writes or sends takes a batch and answers per item, in the order of
 * the items; an item's failure is an answer, never an exception that takes its neighbours with it.
 */

/** The time that decides what is due and whose lease runs: the store's, not this host's. Throws `ClockUnavailableError` while it is not known well enough. */
export interface Clock {
  now(): Instant;
  /** Resolves at or after `at` by this clock, or early once `signal` aborts. */
  sleepUntil(at: Instant, signal?: AbortSignal): Promise<void>;
}

/** This host's own time: good for how long something took here, never for what is due. */
export interface Host {
  /** Milliseconds since the epoch as this host believes them: may be wrong, may step. */
  wallMs(): number;
  /** Milliseconds since some fixed point: never steps, but may stand still while the host is frozen. */
  monotonicMs(): number;
  /** Resolves after `ms` milliseconds, or early once `signal` aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Random numbers in [0, 1). */
export type Random = () => number;

/** A conditional write of one row: `change` where `guard` holds. */
export interface OccurrenceWrite {
  readonly key: OccurrenceKey;
  readonly guard: Guard;
  readonly change: Change;
}

/** What became of a conditional write. */
export type WriteVerdict =
  /** It took effect; the row as it stands now. */
  | { readonly kind: "applied"; readonly row: Occurrence }
  /** The guard did not hold. */
  | { readonly kind: "refused" }
  /** The store definitely did nothing (throttled, refused the request): the same write may be tried again. */
  | { readonly kind: "failed"; readonly error: Error }
  /** No answer, or one that a retried success would also give: it may or may not have taken effect. */
  | { readonly kind: "unknown"; readonly error: Error };

/** What became of an insert-if-absent. */
export type InsertVerdict =
  | { readonly kind: "inserted" }
  /** A row with this key stands already (perhaps inserted by an earlier try of this very call). */
  | { readonly kind: "exists" }
  | { readonly kind: "failed"; readonly error: Error }
  | { readonly kind: "unknown"; readonly error: Error };

/** What became of a read. */
export type ReadVerdict<Row> =
  | { readonly kind: "found"; readonly row: Row }
  | { readonly kind: "missing" }
  | { readonly kind: "failed"; readonly error: Error };

/** A conditional removal of one row. */
export type OccurrenceRemoval = Pick<OccurrenceWrite, "key" | "guard">;

/** What became of a removal. After `unknown` the row may be gone: another look finds out. */
export type RemovalVerdict =
  | { readonly kind: "removed" }
  /** The guard did not hold, or there is no such row. */
  | { readonly kind: "refused" }
  | { readonly kind: "failed" | "unknown"; readonly error: Error };

/** A page of rows; `cursor` is present while there may be more, and is opaque. */
export interface Page<Row> {
  readonly rows: readonly Row[];
  readonly cursor?: string;
}

/** The Occurrences table. Reads of one row are consistent; `due` and `deadLetters` read indexes and may be stale. */
export interface OccurrenceStore {
  insert(rows: readonly Occurrence[]): Promise<readonly InsertVerdict[]>;
  write(writes: readonly OccurrenceWrite[]): Promise<readonly WriteVerdict[]>;
  remove(removals: readonly OccurrenceRemoval[]): Promise<readonly RemovalVerdict[]>;
  read(keys: readonly OccurrenceKey[]): Promise<readonly ReadVerdict<Occurrence>[]>;
  /** Rows of `shard` with `dueAt` at most `until`, oldest first, without a lower bound. */
  due(query: { shard: number; until: Instant; limit: number; cursor?: string }): Promise<Page<DueRow>>;
  /** A schedule's rows by firing, consistently; `from` and `to` are inclusive bounds on `firing`. `statuses` filters after reading. */
  history(query: {
    scheduleId: string;
    from?: string;
    to?: string;
    newestFirst: boolean;
    limit: number;
    statuses?: readonly OccurrenceStatus[];
    cursor?: string;
  }): Promise<Page<Occurrence>>;
  /** Open dead letters of `shard`, newest first. */
  deadLetters(query: { shard: number; limit: number; cursor?: string }): Promise<Page<Occurrence>>;
  /** How many open dead letters `shard` has by the index, counted up to `limit`. */
  countDeadLetters(query: { shard: number; limit: number }): Promise<number>;
  /**
   * Removes a head in one transaction: only where it is still an unclaimed head with that `dueAt`, and its schedule is still
   * as it was read (`undefined`: still absent).
   */
  removeHead(head: DueRow, scheduleAsRead: ScheduleItem | undefined): Promise<"removed" | "refused">;
  /** The gates of schedules whose runs must not overlap, consistently; one that nobody passed yet is missing. */
  readGates(scheduleIds: readonly string[]): Promise<readonly ReadVerdict<Gate>[]>;
  /** Passes gates: names `holder` as the one whose turn it is, only where the gate is still as it was read. */
  passGates(passages: readonly GatePassage[]): Promise<readonly GateVerdict[]>;
  /** The most shards ever in use, at least `shards`, which is recorded if it is the most. */
  shardHighWater(shards: number): Promise<number>;
  /** Where the last sweep stopped, to go on from there; `undefined` where it came to its end. */
  readSweepCursor(): Promise<string | undefined>;
  writeSweepCursor(cursor: string | undefined): Promise<void>;
}

/** Whose turn it is among a schedule's runs, by `firing`, and how many turns were taken. */
export interface Gate {
  readonly holder: string;
  readonly turns: number;
}

/** A turn to be taken. `asRead` is `undefined` for a gate that was missing. */
export interface GatePassage {
  readonly scheduleId: string;
  readonly asRead: Gate | undefined;
  readonly holder: string;
  /** When the gate may be removed unless it is passed again before (TTL in epoch seconds): one of a schedule long gone. */
  readonly expiresAtSeconds: number;
}

/** What became of a passage. After `unknown` it may be the holder's turn: its next visit finds out. */
export type GateVerdict =
  | { readonly kind: "passed" }
  | { readonly kind: "refused" }
  | { readonly kind: "failed" | "unknown"; readonly error: Error };

/** An item of the Schedules table as plain JavaScript values, exactly as it was read. */
export type ScheduleItem = Readonly<Record<string, unknown>> & { readonly scheduleId: string };

/** What an operator leaves on a schedule that is to fire nothing for now. */
export interface SchedulePause {
  readonly at: Instant;
  readonly by?: string;
  readonly note?: string;
}

/** What a put finds: anything, nothing, or the author's attributes as they were read, whatever others wrote since. */
export type PutExpectation = "any" | "absent" | { readonly asRead: ScheduleItem };

/** What became of a pause or its end. */
export type PauseVerdict = "written" | "unchanged" | "missing";

/** The Schedules table. Reads by id are consistent. */
export interface ScheduleStore {
  read(scheduleIds: readonly string[]): Promise<readonly ReadVerdict<ScheduleItem>[]>;
  /** Every schedule, in no order; `group` narrows to one group by its sparse index. */
  list(query: { limit: number; group?: string; cursor?: string }): Promise<Page<ScheduleItem>>;
  /** Replaces the author's attributes, where the schedule is as expected, and keeps what others wrote. */
  put(item: ScheduleItem, expect: PutExpectation): Promise<"put" | "refused">;
  remove(scheduleId: string): Promise<"removed" | "missing">;
  /** Removes the item only where the definition is still `asRead`: one put again meanwhile stays. */
  removeAsRead(asRead: ScheduleItem): Promise<"removed" | "refused">;
  /** Writes `status` only where the definition is still `asRead`: it neither revives a deleted item nor speaks of a new one. */
  setStatus(
    asRead: ScheduleItem,
    status: ScheduleStatus & { readonly warnings?: readonly string[] },
  ): Promise<"written" | "refused">;
  /** Writes `paused` on a schedule that stands and is not paused; one that is stays as it was paused first (`unchanged`). */
  pause(scheduleId: string, pause: SchedulePause): Promise<PauseVerdict>;
  /** Ends a pause: removes `paused` and leaves `resumedAt`. A schedule that is not paused keeps its due heads (`unchanged`). */
  resume(scheduleId: string, resumedAt: Instant): Promise<PauseVerdict>;
}

/** A message on its way to a queue. Group and deduplication id are the same: attempts never block each other. */
export interface OutgoingMessage {
  readonly queue: string;
  readonly deduplicationId: string;
  readonly body: string;
  /** Short text; sanitised and bounded by the adapter. */
  readonly attributes?: Readonly<Record<string, string>>;
}

/** What became of a send. */
export type SendVerdict =
  | { readonly kind: "accepted" }
  /** SQS answered that it did not take it, this time. */
  | { readonly kind: "refused"; readonly error: Error }
  /** SQS can never take it (a sender's fault, an unknown queue). */
  | { readonly kind: "rejected"; readonly error: RecordedError }
  /** No answer: SQS may have it. */
  | { readonly kind: "unknown"; readonly error: Error };

/** The queues that runs go to, by the names the deployment gave them. `DEAD_LETTER_QUEUE` is one more. */
export interface MessageQueue {
  send(messages: readonly OutgoingMessage[]): Promise<readonly SendVerdict[]>;
}

/** The name under which {@link MessageQueue} knows the dead-letter queue: no schedule can name it. */
export const DEAD_LETTER_QUEUE = "#dead-letters";

/** A message as a queue handed it out. `receipt` is good for this receive alone, while its visibility lasts. */
export interface InboxMessage {
  readonly id: string;
  readonly body: string;
  readonly receipt: string;
  /** How often it was handed out, this time included. */
  readonly receives: number;
}

/** What became of an acknowledgement, or of hiding a message. */
export type ReceiptVerdict =
  | { readonly kind: "done" }
  /** The receipt is good no more: the message is gone, visible again, or handed out anew. */
  | { readonly kind: "stale" }
  | { readonly kind: "failed"; readonly error: Error };

/** The longest a message can stay hidden, counted from its receive (Amazon SQS API Reference, "ChangeMessageVisibility"). */
export const HIDDEN_MAX_SECONDS = 43_200;

/** The receiver's side of one queue. None of its operations rejects. */
export interface Inbox {
  /** Up to `max` messages, or as many as one receive can bring, hidden from others for `visibilitySeconds`; waits up to `waitSeconds` for a first one, or until `signal` aborts. */
  receive(request: {
    max: number;
    waitSeconds: number;
    visibilitySeconds: number;
    signal: AbortSignal;
  }): Promise<
    | { readonly kind: "received"; readonly messages: readonly InboxMessage[] }
    | { readonly kind: "failed"; readonly error: Error }
  >;
  /** Removes messages: they have done their work. */
  acknowledge(receipts: readonly string[]): Promise<readonly ReceiptVerdict[]>;
  /** Hides messages for `seconds` from now, to {@link HIDDEN_MAX_SECONDS} at most; 0 hands them back. */
  hide(receipts: readonly string[], seconds: number): Promise<readonly ReceiptVerdict[]>;
}

/** Something that happened, for the event bus. `detail` is JSON-able and bounded. */
export interface Announcement {
  readonly detailType: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** The event bus, at least once. */
export interface EventBus {
  publish(
    announcements: readonly Announcement[],
  ): Promise<readonly ({ kind: "accepted" } | { kind: "failed"; error: Error })[]>;
}

/** Structured logging: one line an entry. */
export interface Logger {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void;
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/**
 * The numbers the engine counts. Units are in the names. `scheduleId`, of a number that tells how one schedule's runs fare:
 * a deployment may want it by schedule as well.
 */
export interface Metrics {
  count(name: MetricName, value?: number, scheduleId?: string): void;
  /** A duration in milliseconds. */
  record(name: DurationName, ms: number, scheduleId?: string): void;
  /** How much there is of something now. */
  gauge(name: GaugeName, value: number): void;
}

export type MetricName =
  | "Claims"
  | "ClaimsAgain"
  | "LostRaces"
  | "Releases"
  | "Rejected"
  | "Skips"
  | "Starts"
  | "Succeeded"
  | "Retries"
  | "DeadLetters"
  | "StaleReports"
  | "StaleMessages"
  | "MalformedMessages"
  | "StoreFailures"
  | "Heartbeats"
  /** What a sweep found amiss and put right. */
  | "Mended";

export type DurationName = "ClaimLatenessMs" | "StartLatenessMs" | "RunDurationMs";

export type GaugeName = "OpenDeadLetters";
