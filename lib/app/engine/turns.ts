import { errorMessage } from "../../core/errors.ts";
import { type Instant, plusMs } from "../../core/instant.ts";
import type { TransitionSettings } from "../../core/machine.ts";
import { type DueRow, formatKey, isHead, isTerminal, type Occurrence } from "../../core/occurrence.ts";
import {
  compareTurns,
  isRightAfter,
  TURN_WAIT_MS,
  type Turn,
  turnIsFreeAt,
  turnOf,
  waitsBehind,
} from "../../core/overlap.ts";
import type { Schedule, ScheduleSnapshot } from "../../core/schedule.ts";
import { transition } from "../../core/transition.ts";
import { carriesCatchUp } from "../../core/visit.ts";
import { mapBounded } from "../bounded.ts";
import type { Gate, ReadVerdict } from "../ports.ts";
import { LAST_INSTANT_KEY } from "./chain.ts";
import type { Engine } from "./engine.ts";
import { settleable, writeSettled } from "./settle.ts";

/** Rows of a schedule that are searched in each place for one that waits; one that is not found looks again by itself. */
const WAITING_ROWS = 50;
/** Rows up to a head among which an older firing stands that is to go first: only a backfill lays more between them. */
const ROWS_UP_TO_HEAD = 10;

/** Schedules whose turn is judged side by side: after an outage each of them searches, or cancels. */
const CONTESTS_AT_ONCE = 10;

/** How long a gate is kept that nobody passes: longer than any attempt can wait for its start and then run. */
const GATE_KEPT_SECONDS = 60 * 86_400;

/** A row that is about to be claimed, and its schedule's overlap policy. */
export interface Candidate {
  readonly row: DueRow;
  readonly policy: ScheduleSnapshot["overlap"];
  /** The schedule of a head that goes after all its older firings. */
  readonly inOrderOf?: Schedule;
}

/**
 * Decides whose turn it is, and takes it where it is a candidate's: the gate is passed conditional on what was read of it
 * before the holder's row was. A candidate without an answer is left for the next visit: its gate could not be read, another
 * was faster, or another row of its schedule comes first.
 */
export async function takeTurns(engine: Engine, candidates: readonly Candidate[]): Promise<ReadonlyMap<DueRow, Turn>> {
  const turns = new Map<DueRow, Turn>();
  const bySchedule = new Map<string, Candidate[]>();
  for (const candidate of candidates) {
    const { row, policy } = candidate;
    if (policy === "allow") turns.set(row, { kind: "go" });
    else bySchedule.set(row.scheduleId, [...(bySchedule.get(row.scheduleId) ?? []), candidate]);
  }
  if (bySchedule.size === 0) return turns;

  // First the gates, then the holders: a holder that comes back to life in between moves its gate, and the passage fails.
  const groups = [...bySchedule.values()].map((group) => group.toSorted((a, b) => compareTurns(a.row, b.row)));
  const gates = await engine.occurrences.readGates([...bySchedule.keys()]);
  const contests = groups.flatMap((group, index): Contest[] => {
    const gate = gates[index];
    if (gate === undefined || gate.kind === "failed") return [];
    const asRead = gate.kind === "found" ? gate.row : undefined;
    // Whoever holds the turn goes on with it; else the first in order.
    const first = group.find(({ row }) => row.firing === asRead?.holder) ?? group[0];
    return first === undefined ? [] : [{ ...first, asRead, behind: group.filter((other) => other !== first) }];
  });
  const passages = await judge(engine, contests, turns);
  const expiresAtSeconds = Math.floor(engine.clock.now() / 1000) + GATE_KEPT_SECONDS;
  const passed = await engine.occurrences.passGates(
    passages.map(({ row, asRead }) => ({
      scheduleId: row.scheduleId,
      asRead,
      holder: row.firing,
      expiresAtSeconds,
    })),
  );
  for (const [index, { row }] of passages.entries())
    if (passed[index]?.kind === "passed") turns.set(row, { kind: "go" });
  return turns;
}

/** Whose turn it may be next, with the gate as it was read, and the others of its schedule that came due with it. */
interface Contest extends Candidate {
  readonly asRead: Gate | undefined;
  readonly behind: readonly Candidate[];
}

/** Notes in `turns` who must wait, is passed over or replaces the holder; answers who may pass the gate. */
async function judge(
  engine: Engine,
  contests: readonly Contest[],
  turns: Map<DueRow, Turn>,
): Promise<readonly Contest[]> {
  const holders = await readHolders(engine, contests);
  const now = engine.clock.now();
  const wait = { kind: "wait", until: plusMs(now, TURN_WAIT_MS) } as const;
  const passages = await mapBounded(contests, CONTESTS_AT_ONCE, async (contest): Promise<Contest[]> => {
    const { row, policy, behind } = contest;
    const holder = holders.get(row);
    if (holder?.kind === "failed") {
      noteUnread(engine, row, "the run before", holder.error);
      return [];
    }
    const standing = holder?.kind === "found" ? holder.row : undefined;
    const free = turnOf(row, policy, standing, now);
    const turn = free.kind === "go" ? await inOrder(engine, contest, standing, now) : free;
    if (turn === undefined) return [];
    if (turn.kind === "replace" && standing !== undefined) await cancelHolder(engine, standing, now);
    // A head is judged on its own, at the next visit: it may be to be passed over.
    for (const other of behind) if (!isHead(other.row)) turns.set(other.row, wait);
    if (turn.kind === "go") return [contest];
    turns.set(row, turn);
    return [];
  });
  return passages.flat();
}

/**
 * Whether a turn that is free is a head's before its schedule's older firings: a chain that was begun anew has several heads, and one that
 * catches up has rows of its own. `undefined` where the rows before it cannot be read.
 */
async function inOrder(
  engine: Engine,
  { row, inOrderOf, asRead }: Contest,
  before: Occurrence | undefined,
  now: Instant,
): Promise<Turn | undefined> {
  // Who has the turn goes on with it: an older one that has come since waits for it.
  if (inOrderOf === undefined || asRead?.holder === row.firing) return { kind: "go" };
  // Nearly always: it costs no request.
  if (before !== undefined && isRightAfter(row, before, inOrderOf)) return { kind: "go" };
  const { scheduleId, firing } = row;
  try {
    const query = { scheduleId, to: firing, newestFirst: true, limit: ROWS_UP_TO_HEAD };
    const { rows } = await engine.occurrences.history(query);
    const until = rows
      .filter((older) => older.firing !== firing)
      .map((older) => waitsBehind(older, now))
      .find((at) => at !== undefined);
    return until === undefined ? { kind: "go" } : { kind: "wait", until };
  } catch (error) {
    noteUnread(engine, row, "the firings before", error);
    return undefined;
  }
}

function noteUnread({ metrics, logger }: Engine, row: DueRow, what: string, error: unknown): void {
  metrics.count("StoreFailures");
  const fields = { key: formatKey(row), error: errorMessage(error) };
  logger.warn(`${what} one could not be read; it is left for the next visit`, fields);
}

async function readHolders(
  engine: Engine,
  contests: readonly Contest[],
): Promise<ReadonlyMap<DueRow, ReadVerdict<Occurrence>>> {
  const held = contests.flatMap(({ row, asRead }) =>
    asRead === undefined ? [] : [{ row, key: { scheduleId: row.scheduleId, firing: asRead.holder } }],
  );
  if (held.length === 0) return new Map();
  const verdicts = await engine.occurrences.read(held.map(({ key }) => key));
  return new Map(
    held.map(({ row }, index) => [row, verdicts[index] ?? { kind: "failed", error: new Error("no answer") }]),
  );
}

async function cancelHolder(engine: Engine, holder: Occurrence, now: Instant): Promise<void> {
  // It goes first all the same, for the missed firings behind it: a moment later it can be stopped.
  if (carriesCatchUp(holder)) return;
  const next = transition(holder, { type: "cancel", reason: "replaced" }, now, engine.settings);
  if (next.kind === "refused") return;
  await writeSettled(engine, [settleable(holder, next, ({ status }) => status === "CANCELLED")]);
  engine.logger.info("a run was cancelled: the next firing of its schedule replaces it", { key: formatKey(holder) });
}

/** What it takes to find a row that waits, and to move it. */
interface Turns extends Pick<Engine, "occurrences" | "clock" | "logger" | "metrics"> {
  readonly settings: TransitionSettings;
}

/** Ends that are followed up side by side. */
const ENDS_AT_ONCE = 16;

/**
 * After runs have ended whose schedule's runs must not overlap: the first row of each that waits for its turn is due as soon as
 * that is free. Where this fails it looks again by itself, within a minute.
 */
export async function letNextRun(turns: Turns, ended: readonly Occurrence[]): Promise<void> {
  const over = ended.filter(({ overlap, status }) => overlap !== "allow" && isTerminal(status));
  await mapBounded(over, ENDS_AT_ONCE, async (row) => {
    try {
      await bringForward(turns, row);
    } catch (error) {
      const fields = { key: formatKey(row), error: errorMessage(error) };
      turns.logger.warn("a run that waits for its turn could not be brought forward", fields);
    }
  });
}

async function bringForward(turns: Turns, ended: Occurrence): Promise<void> {
  const query = { scheduleId: ended.scheduleId, limit: WAITING_ROWS, statuses: ["PENDING"] } as const;
  const pages = await Promise.all([
    // What is backfilled or asked for in numbers waits right behind.
    turns.occurrences.history({ ...query, newestFirst: false, from: ended.firing }),
    // Manual runs sort behind every instant: however many there were, they must not hide the chain.
    turns.occurrences.history({ ...query, newestFirst: true, to: LAST_INSTANT_KEY }),
    turns.occurrences.history({ ...query, newestFirst: true, from: LAST_INSTANT_KEY }),
  ]);
  const now = turns.clock.now();
  const freeAt = turnIsFreeAt(ended, now);
  const waiting = pages
    .flatMap(({ rows }) => rows)
    .filter((row) => row.dueAt !== undefined && row.dueAt > freeAt && row.firstDueAt <= now);
  const next = waiting.toSorted(compareTurns)[0];
  const moved = next && transition(next, { type: "defer", dueAt: freeAt }, now, turns.settings);
  if (next === undefined || moved?.kind !== "write") return;
  await writeSettled(turns, [settleable(next, moved, ({ dueAt }) => dueAt === freeAt)]);
}
