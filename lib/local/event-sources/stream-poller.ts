import { DescribeStreamCommand, type DynamoDBStreamsClient, type Shard } from "@aws-sdk/client-dynamodb-streams";
import type { SQSClient } from "@aws-sdk/client-sqs";
import { pause } from "../../runtime/pause.ts";
import { type Running, run } from "../running.ts";
import type { StreamSource } from "../template/event-sources.ts";
import type { Checkpoints } from "./checkpoints.ts";
import { matches } from "./filter.ts";
import type { Invocable } from "./lambda.ts";
import { POLL_RETRY_PAUSE_MS, type Report } from "./report.ts";
import { type Position, readShard, type ShardReading } from "./shard-reader.ts";
import { type Delivery, deliver } from "./stream-batch.ts";
import type { ShardRecord } from "./stream-event.ts";
import { type GivenUp, sendToFailureQueue } from "./stream-failure.ts";

/** New shards appear when an old one is closed, every few hours; a reader that reaches a shard's end looks at once. */
const SHARDS_REFRESH_MS = 5_000;

/** What a stream poller works with. */
export interface StreamClients {
  readonly streams: DynamoDBStreamsClient;
  readonly sqs: SQSClient;
}

/** A stream's event source. */
export interface StreamRunning extends Running {
  /** Resolves once the stream has been read for the first time: from then on new records are dated to the moment. */
  readonly ready: Promise<void>;
}

/** Feeds a function from a table's change stream as Lambda's event source mapping does: shard by shard, parents before their children, in order. */
export function pollStream(
  source: StreamSource,
  target: Invocable,
  clients: StreamClients,
  checkpoints: Checkpoints,
  report: Report,
  signal: AbortSignal,
): StreamRunning {
  let onRead = (): void => {};
  const ready = new Promise<void>((resolve) => {
    onRead = resolve;
  });
  const running = run(signal, async (stopping) => {
    const exhausted = new Set<string>();
    const reading = new Map<string, Promise<void>>();
    let startingPosition: Position = { kind: source.startingPosition };
    let wake = (): void => {};
    while (!stopping.aborted) {
      const nap = new AbortController();
      wake = () => nap.abort();
      const shards = await listShards(source.streamArn, clients.streams, report, stopping);
      for (const shardId of readable(shards, exhausted)) {
        if (reading.has(shardId)) continue;
        const sequenceNumber = checkpoints.get(keyOf(source, shardId));
        const shard: ShardReading = {
          shardId,
          from: sequenceNumber === undefined ? startingPosition : { kind: "AFTER", sequenceNumber },
          notBeforeMs: sequenceNumber === undefined ? createdAtMs(source.streamArn) : undefined,
          onRead,
          checkpoint: (last) => checkpoints.set(keyOf(source, shardId), last),
          ...shardWork(source, target, clients, report, shardId, stopping),
        };
        const work = readShard(shard, clients.streams, report, stopping).then((done) => {
          reading.delete(shardId);
          if (done) exhausted.add(shardId);
          wake();
        });
        reading.set(shardId, work);
      }
      // LATEST means "from now on": shards that appear later are read whole.
      if (shards.length > 0) startingPosition = { kind: "TRIM_HORIZON" };
      await pause(SHARDS_REFRESH_MS, AbortSignal.any([stopping, nap.signal]));
    }
    await Promise.all(reading.values());
    onRead();
  });
  return { ready, stop: running.stop };
}

/** A stream's label, at the end of its ARN, is when it was created (Streams API Reference, "StreamDescription": StreamLabel). */
function createdAtMs(streamArn: string): number | undefined {
  const [, label] = /\/stream\/(.+)$/.exec(streamArn) ?? [];
  const createdAtMs = Date.parse(`${label}Z`);
  return Number.isNaN(createdAtMs) ? undefined : createdAtMs;
}

/** Two functions may read one stream, each at its own pace; and a table made anew has a new stream. */
const keyOf = (source: StreamSource, shardId: string): string => `${source.logicalId} ${source.streamArn} ${shardId}`;

/** The shards whose parent has been read to its end, or is no longer there, and which have not been themselves. */
function readable(shards: readonly Shard[], exhausted: ReadonlySet<string>): string[] {
  const known = new Set(shards.map(({ ShardId }) => ShardId));
  return shards.flatMap(({ ShardId: id, ParentShardId: parent }) => {
    const waits = parent !== undefined && known.has(parent) && !exhausted.has(parent);
    return id === undefined || waits || exhausted.has(id) ? [] : [id];
  });
}

function shardWork(
  source: StreamSource,
  target: Invocable,
  clients: StreamClients,
  report: Report,
  shardId: string,
  signal: AbortSignal,
): Pick<ShardReading, "streamArn" | "batchSize" | "deliver"> {
  const { name } = target.definition;
  const delivery: Delivery = {
    maxRetries: source.maxRetries,
    bisect: source.bisect,
    reportsItemFailures: source.reportsItemFailures,
    invoke: async (records) => {
      try {
        return { answer: await target.invoke({ Records: records.map(({ record }) => record) }) };
      } catch (error) {
        report({ kind: "invocation-failed", functionName: name, error });
        return undefined;
      }
    },
    giveUp: async (records, tries) => {
      report({ kind: "records-discarded", source: source.table.name, count: records.length });
      const givenUp: GivenUp = { records, tries, shardId, nowIso: new Date().toISOString() };
      await sendToFailureQueue(clients.sqs, source, target.definition, givenUp);
    },
  };
  const wanted = (record: ShardRecord): boolean =>
    source.patterns.length === 0 || source.patterns.some((pattern) => matches(pattern, record.record));
  return {
    streamArn: source.streamArn,
    batchSize: source.batchSize,
    deliver: (records) => deliver(records.filter(wanted), delivery, signal),
  };
}

async function listShards(
  streamArn: string,
  client: DynamoDBStreamsClient,
  report: Report,
  signal: AbortSignal,
): Promise<Shard[]> {
  const shards: Shard[] = [];
  try {
    let lastSeen: string | undefined;
    do {
      const start = lastSeen === undefined ? {} : { ExclusiveStartShardId: lastSeen };
      const command = new DescribeStreamCommand({ StreamArn: streamArn, ...start });
      const { StreamDescription } = await client.send(command, { abortSignal: signal });
      shards.push(...(StreamDescription?.Shards ?? []));
      lastSeen = StreamDescription?.LastEvaluatedShardId;
    } while (lastSeen !== undefined);
  } catch (error) {
    if (!signal.aborted) {
      report({ kind: "poll-failed", source: streamArn, error });
      await pause(POLL_RETRY_PAUSE_MS, signal);
    }
  }
  return shards;
}
