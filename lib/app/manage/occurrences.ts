import { nextFiring } from "../../core/firing/index.ts";
import type { OccurrenceEvent } from "../../core/machine.ts";
import {
  isHead,
  isTerminal,
  type MisfireDecision,
  type Occurrence,
  type OccurrenceKey,
  type OccurrenceStatus,
} from "../../core/occurrence.ts";
import { transition } from "../../core/transition.ts";
import { carriesCatchUp, catchUpFrom, successorAnchor } from "../../core/visit.ts";
import { ensureHeads, insertCatchUps } from "../engine/chain.ts";
import { writeSettled } from "../engine/settle.ts";
import { letNextRun } from "../engine/turns.ts";
import { StoreError } from "../errors.ts";
import type { Page } from "../ports.ts";
import { OccurrenceBusyError, OccurrenceNotFoundError, OccurrenceStateError } from "./errors.ts";
import { type Manager, shardsOf } from "./manager.ts";
import { readSchedules } from "./schedules.ts";

/** How often a change is decided anew because the row moved on while it was decided. */
const TRIES_MAX = 5;

/** Pages read for one answer: a filter that hardly anything passes ends with a cursor, not with a scan of all history. */
const PAGES_MAX = 100;

/** A question for a schedule's runs. */
export interface OccurrenceQuery {
  readonly scheduleId: string;
  readonly limit: number;
  /** Inclusive bounds on `firing`. */
  readonly from?: string;
  readonly to?: string;
  /** Default: newest first. */
  readonly newestFirst?: boolean;
  readonly statuses?: readonly OccurrenceStatus[];
  readonly cursor?: string;
}

/** The run of that key; `undefined` where there is none. Throws `StoreError` when it cannot be read. */
export async function readOccurrence(
  { occurrences }: Pick<Manager, "occurrences">,
  key: OccurrenceKey,
): Promise<Occurrence | undefined> {
  const [reading] = await occurrences.read([key]);
  if (reading?.kind === "failed") throw reading.error;
  return reading?.kind === "found" ? reading.row : undefined;
}

/**
 * A schedule's runs in the order of their firings; manual runs come after every instant. A page is full where there are
 * as many, unless the filter leaves out nearly everything: then it ends early, with a cursor.
 */
export async function listOccurrences(
  { occurrences }: Pick<Manager, "occurrences">,
  { newestFirst = true, cursor: start, limit, ...query }: OccurrenceQuery,
): Promise<Page<Occurrence>> {
  const rows: Occurrence[] = [];
  let cursor = start;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const read = await occurrences.history({
      ...query,
      newestFirst,
      limit: limit - rows.length,
      ...(cursor !== undefined && { cursor }),
    });
    rows.push(...read.rows);
    cursor = read.cursor;
    if (cursor === undefined || rows.length >= limit) break;
  }
  return { rows, ...(cursor !== undefined && { cursor }) };
}

/** Something an operator does to a run, and how to tell from a row that it was done. */
interface Operation {
  readonly event: Extract<OccurrenceEvent, { type: "cancel" | "replay" | "discard" }>;
  /** What must be done first, once it is known that the event applies. */
  readonly before?: (row: Occurrence) => Promise<void>;
  /** Whether `row` shows it done: the answer to a write was lost, or somebody else asked for the same. */
  readonly isDone: (row: Occurrence, asRead: Occurrence) => boolean;
}

/**
 * Does `operation` to the row as it stands, again where the row moved on meanwhile. Throws `OccurrenceNotFoundError`,
 * `OccurrenceStateError` where the state does not allow it, `OccurrenceBusyError`, and `StoreError`.
 */
export async function operate(manager: Manager, key: OccurrenceKey, operation: Operation): Promise<Occurrence> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const row = await readOccurrence(manager, key);
    if (row === undefined) throw new OccurrenceNotFoundError(key);
    const decided = transition(row, operation.event, manager.clock.now(), manager.settings);
    if (decided.kind === "refused") throw new OccurrenceStateError(key, decided.reason);
    await operation.before?.(row);
    const { guard, change } = decided;
    const isMine = (now: Occurrence) => operation.isDone(now, row);
    const [verdict] = await writeSettled(manager, [{ key, guard, change, isMine }]);
    if (verdict?.kind === "applied") return verdict.row;
    if (verdict?.kind === "failed" || verdict?.kind === "unknown") throw verdict.error;
  }
  throw new OccurrenceBusyError(key, TRIES_MAX);
}

/**
 * Ends a run that is not finished. What runs is told at its next renewal and can no longer report; the chain goes on. One
 * that is cancelled stays so.
 */
export async function cancelOccurrence(manager: Manager, key: OccurrenceKey): Promise<Occurrence> {
  const row = await readOccurrence(manager, key);
  if (row?.status === "CANCELLED") return row;
  if (row !== undefined && isTerminal(row.status))
    throw new OccurrenceStateError(key, `is ${row.status}: there is nothing left to cancel`);
  const cancelled = await operate(manager, key, {
    event: { type: "cancel", reason: "requested" },
    before: (standing) => {
      if (isHead(standing)) return carryOn(manager, standing);
      return carriesCatchUp(standing) ? bringCatchUp(manager, standing) : Promise.resolve();
    },
    isDone: (now, asRead) => now.status === "CANCELLED" && now.fencingToken === asRead.fencingToken + 1,
  });
  await letNextRun(manager, [cancelled]);
  return cancelled;
}

/**
 * Whoever takes a head inserts its successor first: a crash in between leaves a successor, and no broken chain. A successor
 * that is late itself meets the misfire policy on its own.
 */
async function carryOn(manager: Manager, head: Occurrence): Promise<void> {
  const [read] = await readSchedules(manager, [head.scheduleId]);
  // A deleted schedule's chain ends; an unusable one's starts anew once it is mended.
  if (read === undefined || read.parsed.kind === "invalid") return;
  const { schedule } = read.parsed;
  const firing = nextFiring(schedule.timing, successorAnchor(head, schedule, manager.clock.now()));
  if (firing === undefined) return;
  const engine = { ...manager, settings: { shards: await shardsOf(manager) } };
  const [standing] = await ensureHeads(engine, [{ schedule, firing }]);
  if (!standing)
    throw new StoreError(`the next firing of schedule ${head.scheduleId} could not be inserted; nothing is cancelled`);
}

/** One missed firing is not wanted: those behind it, which it would have brought, still are. */
async function bringCatchUp(manager: Manager, row: Occurrence & { readonly misfire: MisfireDecision }): Promise<void> {
  const [read] = await readSchedules(manager, [row.scheduleId]);
  if (read === undefined || read.parsed.kind === "invalid") return;
  const { schedule } = read.parsed;
  const { catchUp } = catchUpFrom(row, { kind: "found", schedule });
  if (catchUp === undefined) return;
  const engine = { ...manager, settings: { shards: await shardsOf(manager) } };
  const [standing] = await insertCatchUps(engine, [{ schedule, catchUp }]);
  if (!standing)
    throw new StoreError(`missed firings of schedule ${row.scheduleId} could not be inserted; nothing is cancelled`);
}
