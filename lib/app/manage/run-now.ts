import { InvalidScheduleError } from "../../core/errors.ts";
import { newManualRun } from "../../core/new-occurrence.ts";
import type { Occurrence } from "../../core/occurrence.ts";
import { PAYLOAD_MAX_BYTES } from "../../core/schedule-definition.ts";
import { shown } from "../../core/validation.ts";
import { StoreError } from "../errors.ts";
import { InvalidArgumentError } from "./errors.ts";
import { fitsPayload, type Manager, shardsOf } from "./manager.ts";
import { readOccurrence } from "./occurrences.ts";
import { requireSchedule } from "./schedules.ts";

/** A key stands in the row's sort key and in the run's name. */
const MANUAL_KEY = /^[\x21-\x7e]{1,128}$/;

/** Which run is asked for. */
export interface RunNowOptions {
  /** The caller's own: the same key is the same run, however often it is asked for. */
  readonly key: string;
  /** Any JSON value in place of the schedule's payload. */
  readonly payload?: unknown;
}

/** The run, and whether this call is what made it. */
export interface RunNowOutcome {
  readonly occurrence: Occurrence;
  readonly created: boolean;
}

/**
 * Runs a schedule's job now, also while it is paused or disabled; its firings stay as they are. The same key answers with
 * the same run, finished or not, for as long as history is kept. Throws `ScheduleNotFoundError`, `InvalidScheduleError`
 * for a definition that cannot run, `InvalidArgumentError` and `StoreError`.
 */
export async function runNow(manager: Manager, scheduleId: string, options: RunNowOptions): Promise<RunNowOutcome> {
  const payload = payloadText(options.payload);
  // A caller without types may give none, and every such run would be the one named "undefined".
  if (typeof options.key !== "string" || !MANUAL_KEY.test(options.key))
    throw new InvalidArgumentError(
      `key must be 1-128 printable ASCII characters without spaces, got ${shown(options.key)}`,
    );
  const { parsed } = await requireSchedule(manager, scheduleId);
  if (parsed.kind === "invalid") throw new InvalidScheduleError(scheduleId, parsed.problems);
  const now = manager.clock.now();
  const row = newManualRun(parsed.schedule, options.key, now, await shardsOf(manager), payload);
  const [verdict] = await manager.occurrences.insert([row]);
  if (verdict?.kind === "inserted") return { occurrence: row, created: true };
  if (verdict?.kind === "failed") throw verdict.error;
  const standing = await readOccurrence(manager, row);
  if (standing !== undefined) return { occurrence: standing, created: false };
  throw new StoreError(`run ${row.firing} of schedule ${scheduleId} could not be inserted; the same key tries again`, {
    cause: verdict?.kind === "unknown" ? verdict.error : undefined,
  });
}

function payloadText(payload: unknown): string | undefined {
  if (payload === undefined) return undefined;
  const text = JSON.stringify(payload);
  if (text === undefined) throw new InvalidArgumentError(`payload must be a JSON value, got ${shown(payload)}`);
  if (fitsPayload(text)) return text;
  throw new InvalidArgumentError(
    `payload must be at most ${PAYLOAD_MAX_BYTES} bytes of JSON, got ${Buffer.byteLength(text)}`,
  );
}
