import { errorMessage } from "../../core/errors.ts";
import { type Firing, nextFiring } from "../../core/firing/index.ts";
import { type Instant, toIso } from "../../core/instant.ts";
import { keyAt, newBackfill, newHead, newStandIn } from "../../core/new-occurrence.ts";
import { isHead, type MisfireDecision, type Occurrence } from "../../core/occurrence.ts";
import type { Schedule } from "../../core/schedule.ts";
import type { CatchUp } from "../../core/visit.ts";
import { MalformedRowError } from "../errors.ts";
import type { ReadVerdict } from "../ports.ts";
import type { Engine, EngineSettings } from "./engine.ts";

/** The part of an engine that carries chains on: whoever takes a head needs it, and nothing more. */
export interface ChainEngine extends Pick<Engine, "occurrences" | "clock" | "logger" | "metrics"> {
  readonly settings: Pick<EngineSettings, "shards">;
}

/** A firing that a schedule's chain should go on with. */
export interface Wanted {
  readonly schedule: Schedule;
  readonly firing: Firing;
  /** The firing stands for missed ones. */
  readonly misfire?: MisfireDecision;
}

/** Rows that a walk past finished instants reads at a time, and how often: it ends, and the next visit goes on. */
const WALK_PAGE = 500;
const WALK_PAGES_MAX = 40;

/**
 * Makes sure that each wanted firing, or the first one after it whose instant is free, stands as a head: insert-if-absent
 * with a deterministic identity, so that whoever else does the same, or did it and crashed, changes nothing. Answers per
 * item whether the chain now goes on (also where the schedule has no further firing).
 */
export async function ensureHeads(engine: ChainEngine, wanted: readonly Wanted[]): Promise<readonly boolean[]> {
  if (wanted.length === 0) return [];
  const { occurrences, clock, settings } = engine;
  const rows = wanted.map(({ schedule, firing, misfire }) =>
    misfire === undefined
      ? newHead(schedule, firing, clock.now(), settings.shards)
      : newStandIn(schedule, firing, misfire, clock.now(), settings.shards),
  );
  const verdicts = await occurrences.insert(rows);
  const doubtful = wanted.flatMap((want, index) => {
    const kind = verdicts[index]?.kind;
    return kind === "exists" || kind === "unknown" ? [{ want, index }] : [];
  });
  const readings =
    doubtful.length === 0
      ? []
      : await occurrences.read(doubtful.map(({ want }) => keyAt(want.schedule.scheduleId, want.firing.scheduledFor)));
  const standing = verdicts.map(({ kind }) => kind === "inserted");
  for (const [position, { want, index }] of doubtful.entries()) {
    const reading = readings[position];
    if (reading?.kind !== "found" && !isUnreadable(reading)) continue;
    standing[index] =
      (reading?.kind === "found" && isHead(reading.row)) || (await walkedOn(engine, alongChain(engine, want)));
  }
  for (const [index, verdict] of verdicts.entries())
    if (!standing[index] && (verdict.kind === "failed" || verdict.kind === "unknown")) {
      engine.metrics.count("StoreFailures");
      engine.logger.warn("a successor could not be inserted; its head is left for the next visit", {
        scheduleId: wanted[index]?.schedule.scheduleId,
        error: errorMessage(verdict.error),
      });
    }
  return standing;
}

/** A walk along a schedule's firings, from one whose instant is taken to one that carries on what is to go on behind it. */
interface Walk extends Pick<Wanted, "schedule" | "firing"> {
  /** The last instant that it goes to; where there is none, the end of the schedule. */
  readonly last?: Instant;
  /** Whether a row carries on. */
  readonly carries: (row: Occurrence) => boolean;
  /** A row that does, for a firing whose instant is free. */
  readonly rowOf: (firing: Firing) => Occurrence;
}

const alongChain = ({ clock, settings }: ChainEngine, { schedule, firing }: Wanted): Walk => ({
  schedule,
  firing,
  carries: isHead,
  rowOf: (free) => newHead(schedule, free, clock.now(), settings.shards),
});

/** {@link walkOn}, where one schedule's failure is its own. */
async function walkedOn(engine: ChainEngine, walk: Walk): Promise<boolean> {
  try {
    return await walkOn(engine, walk);
  } catch (error) {
    engine.metrics.count("StoreFailures");
    engine.logger.warn("a chain could not be walked; its row is left for the next visit", {
      scheduleId: walk.schedule.scheduleId,
      error: errorMessage(error),
    });
    return false;
  }
}

/** Past instants whose rows carry nothing (ran, cancelled, backfilled, unreadable), to the first that is free or does. */
async function walkOn(engine: ChainEngine, { schedule, firing, last, carries, rowOf }: Walk): Promise<boolean> {
  let next: Firing | undefined = firing;
  let cursor: string | undefined;
  for (let page = 0; page < WALK_PAGES_MAX; page += 1) {
    const read = await engine.occurrences.history({
      scheduleId: schedule.scheduleId,
      from: toIso(firing.scheduledFor),
      to: last === undefined ? LAST_INSTANT_KEY : toIso(last),
      newestFirst: false,
      limit: WALK_PAGE,
      ...(cursor !== undefined && { cursor }),
    });
    const standing = new Map(read.rows.map((row) => [row.firing, row]));
    const readUpTo = read.rows.at(-1)?.scheduledFor;
    cursor = read.cursor;
    for (let row = at(standing, next); row !== undefined; row = at(standing, next)) {
      if (carries(row)) return true;
      next = nextFiring(schedule.timing, row.scheduledFor);
    }
    if (next === undefined || (last !== undefined && next.scheduledFor > last)) return true;
    // Past what was read the instant may be taken too: the next page tells.
    if (cursor !== undefined && (readUpTo === undefined || next.scheduledFor > readUpTo)) continue;
    const row = rowOf(next);
    const [verdict] = await engine.occurrences.insert([row]);
    if (verdict?.kind === "inserted") return true;
    // Somebody else's, or what an unanswered insert left; a row that carries nothing is walked past at the next visit.
    const [reading] = await engine.occurrences.read([row]);
    if (!isUnreadable(reading)) return reading?.kind === "found" && carries(reading.row);
    // No page shows it.
    next = nextFiring(schedule.timing, next.scheduledFor);
    cursor = undefined;
  }
  return false;
}

/** Whether a row stands that nobody can read: it carries nothing, and must not hold up what is behind it. */
const isUnreadable = (reading: ReadVerdict<Occurrence> | undefined): boolean =>
  reading?.kind === "failed" && reading.error instanceof MalformedRowError;

const at = (rows: ReadonlyMap<string, Occurrence>, firing: Firing | undefined): Occurrence | undefined =>
  firing && rows.get(toIso(firing.scheduledFor));

/** Missed firings to insert for one row. */
export interface WantedCatchUp {
  readonly schedule: Schedule;
  readonly catchUp: CatchUp;
}

/**
 * Inserts missed firings as rows of their own, oldest first; what has a row already ran or was dealt with. Where that takes the place of
 * the one that brings the rest, the first free instant behind it does. Answers per item whether all of its rows stand.
 */
export async function insertCatchUps(
  engine: ChainEngine,
  wanted: readonly WantedCatchUp[],
): Promise<readonly boolean[]> {
  const rows = wanted.flatMap(({ schedule, catchUp }, index) =>
    catchUp.firings.map((firing, position) => {
      // Where runs must not overlap, each carries the decision: its turn comes before what is backfilled.
      const carries =
        schedule.snapshot.overlap !== "allow" || (catchUp.more && position === catchUp.firings.length - 1);
      const now = engine.clock.now();
      const misfire = carries ? catchUp.misfire : undefined;
      return { index, row: newBackfill(schedule, firing, now, engine.settings.shards, misfire) };
    }),
  );
  const verdicts = rows.length === 0 ? [] : await engine.occurrences.insert(rows.map(({ row }) => row));
  const missing = new Set(
    rows.flatMap(({ index }, position) => {
      const kind = verdicts[position]?.kind;
      return kind === "inserted" || kind === "exists" ? [] : [index];
    }),
  );
  for (const [index, want] of wanted.entries()) {
    const walk = alongCatchUp(engine, want);
    if (walk === undefined || missing.has(index)) continue;
    const last = verdicts[rows.findLastIndex((one) => one.index === index)];
    if (last?.kind === "exists" && !(await walkedOn(engine, walk))) missing.add(index);
  }
  return wanted.map((_, index) => !missing.has(index));
}

/** Nothing where no missed firing is left behind those that were inserted. */
function alongCatchUp({ clock, settings }: ChainEngine, { schedule, catchUp }: WantedCatchUp): Walk | undefined {
  const { firings, more, misfire } = catchUp;
  const firing = firings.at(-1);
  if (firing === undefined || !more) return undefined;
  return {
    schedule,
    firing,
    last: misfire.to,
    // A live firing goes on by its own chain.
    carries: (row) => isHead(row) || (row.kind === "backfill" && row.misfire?.policy === "all"),
    rowOf: (free) => newBackfill(schedule, free, clock.now(), settings.shards, misfire),
  };
}

/** Sorts after every instant's key of the years 0 to 9999 and before `manual#`: the end of a schedule's own firings. */
export const LAST_INSTANT_KEY = ":";
/** Sorts before them all. */
export const FIRST_INSTANT_KEY = "+";
