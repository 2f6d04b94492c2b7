import type { Context, DynamoDBBatchResponse, DynamoDBRecord, DynamoDBStreamEvent } from "aws-lambda";
import { scheduleChange } from "../lib/adapters/dynamodb/stream-records.ts";
import { mapBounded } from "../lib/app/bounded.ts";
import { announceSchedules } from "../lib/app/engine/announce-schedules.ts";
import { reconcile, type Written } from "../lib/app/engine/reconcile.ts";
import { sweep } from "../lib/app/engine/sweep.ts";
import { errorMessage } from "../lib/core/errors.ts";
import { createEngine, type DeployedEngine, type Overrides } from "../lib/runtime/create-engine.ts";
import { once } from "../lib/runtime/once.ts";

/** The hourly rule's constant input. */
interface SweepEvent {
  readonly sweep: true;
}

type LambdaContext = Pick<Context, "getRemainingTimeInMillis">;
/** What a sweep leaves of its invocation for the page it is at. */
const STOP_BEFORE_END_MS = 30_000;

/** The reconciler with what `env` says, made at the first event. */
export function createHandler(env: NodeJS.ProcessEnv, overrides: Overrides = {}) {
  const coldStart = once(() => createEngine(env, "reconciler", overrides));
  return async (event: DynamoDBStreamEvent | SweepEvent, context: LambdaContext): Promise<DynamoDBBatchResponse> => {
    const engine = coldStart();
    await engine.clock.probe();
    try {
      // Before a row may go to a shard that no dispatcher knows of yet.
      await engine.occurrences.shardHighWater(engine.settings.shards);
      if ("sweep" in event) {
        await sweep(
          engine,
          engine.bus,
          AbortSignal.timeout(Math.max(0, context.getRemainingTimeInMillis() - STOP_BEFORE_END_MS)),
        );
        return { batchItemFailures: [] };
      }
      return { batchItemFailures: await reconcileRecords(engine, event.Records) };
    } finally {
      engine.metrics.flush();
    }
  };
}

/** Schedules reconciled side by side: a storm of one-shots ends in many records at once. */
const SCHEDULES_AT_ONCE = 10;

/**
 * Reconciles each schedule once, and announces what the records tell of. What failed comes again, with all that follows it;
 * what is done by then finds nothing to do.
 */
async function reconcileRecords(engine: DeployedEngine, records: readonly DynamoDBRecord[]) {
  const changes = records.map((record) => ({ record, ...scheduleChange(record) }));
  const failed = new Set<string>();
  await mapBounded([...newestBySchedule(changes)], SCHEDULES_AT_ONCE, async ([scheduleId, written]) => {
    try {
      await reconcile(engine, scheduleId, written);
    } catch (error) {
      failed.add(scheduleId);
      const fields = { scheduleId, error: errorMessage(error) };
      engine.logger.error("a schedule could not be reconciled; its record comes again", fields);
    }
  });
  const out = await announceSchedules(
    engine,
    engine.bus,
    changes.map(({ images }) => images),
  );
  const first = changes.find(({ scheduleId }, index) => failed.has(scheduleId) || !out[index]);
  return first ? [{ itemIdentifier: first.record.dynamodb?.SequenceNumber ?? "" }] : [];
}

/**
 * The version that was written last, and when it was written first: a status or a pause that followed on the same version
 * says nothing of when the definition was put.
 */
function newestBySchedule(changes: readonly { readonly scheduleId: string; readonly written?: Written }[]) {
  const newest = new Map<string, Written | undefined>();
  for (const { scheduleId, written } of changes) {
    const before = newest.get(scheduleId);
    newest.set(scheduleId, before && before.version === written?.version ? before : written);
  }
  return newest;
}

/** Keeps the chains right: the handler of both streams' and of the hourly sweep's. */
export const handler = createHandler(process.env);
