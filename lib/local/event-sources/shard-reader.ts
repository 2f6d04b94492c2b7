import {
  type DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
} from "@aws-sdk/client-dynamodb-streams";
import { pause } from "../../runtime/pause.ts";
import { isNamed } from "../errors.ts";
import { POLL_RETRY_PAUSE_MS, type Report } from "./report.ts";
import { type ShardRecord, toShardRecord } from "./stream-event.ts";

/** Where reading a shard begins. */
export type Position =
  | { readonly kind: "TRIM_HORIZON" }
  | { readonly kind: "LATEST" }
  | { readonly kind: "AFTER"; readonly sequenceNumber: string };

/** One shard of a stream, and what to do with what is read. */
export interface ShardReading {
  readonly streamArn: string;
  readonly shardId: string;
  readonly from: Position;
  readonly batchSize: number;
  /** Delivers one batch; false means that it was not, because of the abort. */
  readonly deliver: (records: readonly ShardRecord[]) => Promise<boolean>;
  /** An instant in epoch ms before which nothing that is unread can have been written, when one is known. */
  readonly notBeforeMs: number | undefined;
  /** Called with each answer of the stream, before it is delivered. */
  readonly onRead: () => void;
  /** Called with the last sequence number of a batch that is done with. */
  readonly checkpoint: (sequenceNumber: string) => void;
}

/** A quiet shard is asked again after 50 ms, then ever more rarely, down to four times a second. */
const IDLE_PAUSE_MS = { base: 50, max: 250 };

/** Streams API Reference, GetRecords: at most 1,000 records. */
const GET_RECORDS_MAX = 1_000;

/** Streams API Reference, GetRecords: the iterator is older than 15 minutes; what it pointed at is older than 24 hours. */
const EXPIRED = "ExpiredIteratorException";
const TRIMMED = "TrimmedDataAccessException";

/**
 * Reads a shard in order, batch by batch, until it is closed and exhausted or `signal` aborts; true means exhausted.
 * What cannot be read is reported and asked for again.
 */
export async function readShard(
  reading: ShardReading,
  client: DynamoDBStreamsClient,
  report: Report,
  signal: AbortSignal,
): Promise<boolean> {
  const cursor: Cursor = { position: reading.from, iterator: undefined, tipAtMs: reading.notBeforeMs };
  let idlePauseMs = IDLE_PAUSE_MS.base;
  while (!signal.aborted) {
    try {
      const outcome = await readBatch(reading, cursor, client, signal);
      if (outcome === "exhausted") return true;
      idlePauseMs = outcome === "records" ? IDLE_PAUSE_MS.base : Math.min(IDLE_PAUSE_MS.max, idlePauseMs * 2);
      if (outcome === "quiet") await pause(idlePauseMs, signal);
    } catch (error) {
      if (signal.aborted) break;
      cursor.iterator = undefined;
      if (isNamed(error, TRIMMED)) cursor.position = { kind: "TRIM_HORIZON" };
      else if (!isNamed(error, EXPIRED)) {
        report({ kind: "poll-failed", source: reading.streamArn, error });
        await pause(POLL_RETRY_PAUSE_MS, signal);
      }
    }
  }
  return false;
}

interface Cursor {
  position: Position;
  iterator: string | undefined;
  /** When a read was sent that found the end of the shard, or the like: what comes next was written later (epoch ms). */
  tipAtMs: number | undefined;
}

async function readBatch(
  reading: ShardReading,
  cursor: Cursor,
  client: DynamoDBStreamsClient,
  signal: AbortSignal,
): Promise<"records" | "quiet" | "exhausted"> {
  const limit = Math.min(reading.batchSize, GET_RECORDS_MAX);
  cursor.iterator ??= await iteratorAt(cursor.position, reading, client, signal);
  const sentAtMs = Date.now();
  const { Records = [], NextShardIterator } = await client.send(
    new GetRecordsCommand({ ShardIterator: cursor.iterator, Limit: limit }),
    { abortSignal: signal },
  );
  reading.onRead();
  const records = Records.map((record) => toShardRecord(record, reading.streamArn, cursor.tipAtMs));
  if (records.length < limit) cursor.tipAtMs = sentAtMs;
  const last = records.at(-1);
  if (last) {
    if (!(await reading.deliver(records))) return "quiet";
    cursor.position = { kind: "AFTER", sequenceNumber: last.sequenceNumber };
    reading.checkpoint(last.sequenceNumber);
  }
  cursor.iterator = NextShardIterator;
  if (NextShardIterator === undefined) return "exhausted";
  return last ? "records" : "quiet";
}

async function iteratorAt(
  position: Position,
  { streamArn, shardId }: ShardReading,
  client: DynamoDBStreamsClient,
  signal: AbortSignal,
): Promise<string> {
  const start =
    position.kind === "AFTER"
      ? { ShardIteratorType: "AFTER_SEQUENCE_NUMBER" as const, SequenceNumber: position.sequenceNumber }
      : { ShardIteratorType: position.kind };
  const command = new GetShardIteratorCommand({ StreamArn: streamArn, ShardId: shardId, ...start });
  const { ShardIterator } = await client.send(command, { abortSignal: signal });
  if (ShardIterator === undefined) throw new TypeError(`shard ${shardId} gave no iterator`);
  return ShardIterator;
}
