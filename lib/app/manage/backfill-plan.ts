import { countFirings, firingsBetween } from "../../core/firing/index.ts";
import { type Instant, plusMs, toIso } from "../../core/instant.ts";
import { keyAt } from "../../core/new-occurrence.ts";
import { isTerminal, type MisfireDecision, type Occurrence } from "../../core/occurrence.ts";
import type { Schedule } from "../../core/schedule.ts";
import { FIRST_INSTANT_KEY, LAST_INSTANT_KEY } from "../engine/chain.ts";
import { StoreError } from "../errors.ts";
import { InvalidArgumentError } from "./errors.ts";
import type { Manager } from "./manager.ts";

/** The most firings a range may hold unless a limit says how many runs are wanted. */
export const BACKFILL_FIRINGS_MAX = 1_000;
/** The largest limit, which bounds what a plan holds in memory. */
export const BACKFILL_LIMIT_MAX = 100_000;
/** Firings whose rows are read at a time. */
const PAGE_FIRINGS = 500;
/** Rows on either side of a range among which a coalesced run is looked for that stands for firings inside it. */
const ROWS_BESIDE = 50;

/** Which firings are wanted. */
export interface BackfillRange {
  /** Inclusive. */
  readonly from: Instant;
  /** Exclusive, at most now. */
  readonly to: Instant;
  /** The most runs, oldest first. Without it a range of more than {@link BACKFILL_FIRINGS_MAX} firings is refused. */
  readonly limit?: number;
  /** Also what is older than the kept history, where nobody can tell any more what already ran. */
  readonly rerun?: boolean;
  /** Also the firings that a coalesced run stood for. */
  readonly includeCoalesced?: boolean;
}

/** How many firings of a range are in which state. */
export interface BackfillCounts {
  /** No row: to be inserted. */
  readonly missing: number;
  /** Passed over: to be revived. */
  readonly skipped: number;
  /** A coalesced run stood for them. */
  readonly covered: number;
  /** Over: succeeded, dead or cancelled. */
  readonly done: number;
  /** Due, at work, or to be tried again. */
  readonly underWay: number;
}

/** What a backfill would do. `more`: the limit cut it short, and the counts with it. */
export interface BackfillPlan {
  readonly counts: BackfillCounts;
  readonly wanted: readonly Instant[];
  readonly more: boolean;
}

/** Decides what a backfill of `range` is to run. Throws `InvalidArgumentError` where the range is refused, and `StoreError`. */
export async function planBackfill(manager: Manager, schedule: Schedule, range: BackfillRange): Promise<BackfillPlan> {
  checkRange(manager, schedule, range);
  const limit = range.limit ?? BACKFILL_FIRINGS_MAX;
  const beside = await rowsBeside(manager, schedule.scheduleId, range);
  const counts = { missing: 0, skipped: 0, covered: 0, done: 0, underWay: 0 };
  const wanted: Instant[] = [];
  const decisions = new Decisions(manager, schedule.scheduleId, beside);
  for (let cursor = range.from; ; ) {
    const firings = firingsBetween(schedule.timing, cursor, range.to, PAGE_FIRINGS);
    const last = firings.at(-1);
    if (last === undefined) return { counts, wanted, more: false };
    const rows = await readRows(
      manager,
      schedule.scheduleId,
      firings.map(({ scheduledFor }) => scheduledFor),
    );
    decisions.note(rows.values());
    for (const { scheduledFor } of firings) {
      const row = rows.get(toIso(scheduledFor));
      const state = await stateOf(row, scheduledFor, range, decisions);
      if (state === "missing" || state === "skipped") {
        if (wanted.length === limit) return { counts, wanted, more: true };
        wanted.push(scheduledFor);
      }
      counts[state] += 1;
    }
    cursor = plusMs(last.scheduledFor, 1);
  }
}

function checkRange({ clock, settings }: Manager, { timing }: Schedule, range: BackfillRange): void {
  const { from, to, limit, rerun } = range;
  const now = clock.now();
  const days = Math.floor(settings.historySeconds / 86_400);
  const refuse = (message: string) => new InvalidArgumentError(message);
  if (to > now) throw refuse(`to must be at most now (${toIso(now)}), got ${toIso(to)}`);
  if (from >= to) throw refuse(`from must be before to (${toIso(to)}), got ${toIso(from)}`);
  if (limit !== undefined && !(Number.isInteger(limit) && limit >= 1 && limit <= BACKFILL_LIMIT_MAX))
    throw refuse(`limit must be a whole number from 1 to ${BACKFILL_LIMIT_MAX}, got ${limit}`);
  if (from < plusMs(now, -settings.historySeconds * 1000) && !rerun)
    throw refuse(
      `from must lie within the ${days} days for which history is kept, unless rerun is given: what ran before would run again; got ${toIso(from)}`,
    );
  const { more } = countFirings(timing, plusMs(from, -1), plusMs(to, -1), BACKFILL_FIRINGS_MAX);
  if (more && limit === undefined)
    throw refuse(`the range must hold at most ${BACKFILL_FIRINGS_MAX} firings unless limit is given, got more`);
}

async function stateOf(
  row: Occurrence | undefined,
  at: Instant,
  { includeCoalesced = false }: BackfillRange,
  decisions: Decisions,
): Promise<keyof BackfillCounts> {
  if (row !== undefined && row.status !== "SKIPPED") return isTerminal(row.status) ? "done" : "underWay";
  if (!includeCoalesced && (await decisions.cover(at))) return "covered";
  return row === undefined ? "missing" : "skipped";
}

/** The coalesced runs that were seen, and which of them ran. */
class Decisions {
  readonly #manager: Manager;
  readonly #scheduleId: string;
  readonly #seen = new Map<Instant, MisfireDecision>();
  readonly #ran = new Map<Instant, boolean>();

  constructor(manager: Manager, scheduleId: string, rows: Iterable<Occurrence>) {
    this.#manager = manager;
    this.#scheduleId = scheduleId;
    this.note(rows);
  }

  note(rows: Iterable<Occurrence>): void {
    for (const { misfire } of rows) if (misfire?.policy === "coalesce") this.#seen.set(misfire.to, misfire);
  }

  /** Whether a run stood for the firing at `at`: one that was passed over itself stood for nothing. */
  async cover(at: Instant): Promise<boolean> {
    for (const { from, to } of this.#seen.values()) if (from <= at && at <= to && (await this.#didRun(to))) return true;
    return false;
  }

  async #didRun(at: Instant): Promise<boolean> {
    const known = this.#ran.get(at);
    if (known !== undefined) return known;
    const row = (await readRows(this.#manager, this.#scheduleId, [at])).get(toIso(at));
    const ran = row !== undefined && row.status !== "SKIPPED" && row.status !== "CANCELLED";
    this.#ran.set(at, ran);
    return ran;
  }
}

async function rowsBeside({ occurrences }: Manager, scheduleId: string, { from, to }: BackfillRange) {
  const query = { scheduleId, limit: ROWS_BESIDE };
  const [before, after] = await Promise.all([
    occurrences.history({ ...query, from: FIRST_INSTANT_KEY, to: toIso(from), newestFirst: true }),
    occurrences.history({ ...query, from: toIso(to), to: LAST_INSTANT_KEY, newestFirst: false }),
  ]);
  return [...before.rows, ...after.rows];
}

/** The rows that stand at these instants, by firing. Throws `StoreError` where one cannot be read. */
export async function readRows(
  { occurrences }: Pick<Manager, "occurrences">,
  scheduleId: string,
  instants: readonly Instant[],
): Promise<ReadonlyMap<string, Occurrence>> {
  const verdicts = await occurrences.read(instants.map((at) => keyAt(scheduleId, at)));
  const rows = new Map<string, Occurrence>();
  for (const verdict of verdicts) {
    if (verdict.kind === "failed")
      throw new StoreError(`rows of schedule ${scheduleId} could not be read`, { cause: verdict.error });
    if (verdict.kind === "found") rows.set(verdict.row.firing, verdict.row);
  }
  return rows;
}
