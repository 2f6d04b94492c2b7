import type { Instant } from "../../core/instant.ts";
import { type DueRow, formatKey, isHead, type Occurrence } from "../../core/occurrence.ts";
import { type Turn, turnOf } from "../../core/overlap.ts";
import type { ScheduleSnapshot } from "../../core/schedule.ts";
import { transition } from "../../core/transition.ts";
import type { Gate, ReadVerdict } from "../ports.ts";
import type { Engine } from "./engine.ts";
import { type SettleableWrite, writeSettled } from "./settle.ts";

/** Newest rows of a schedule that are searched for one that waits. */
const WAITING_ROWS = 50;

/** A row that is about to be claimed, and its schedule's overlap policy. */
export interface Candidate {
  readonly row: DueRow;
  readonly policy: ScheduleSnapshot["overlap"];
}

/**
 * Decides whose turn it is, and takes it where it is a candidate's: the gate is passed conditional on what was read of it
 * before the holder's row was. A candidate without an answer is left for the next visit: its gate could not be read, another
 * was faster, or an older row of its schedule comes first.
 */
export async function takeTurns(engine: Engine, candidates: readonly Candidate[]): Promise<ReadonlyMap<DueRow, Turn>> {
  const turns = new Map<DueRow, Turn>();
  const oldest = new Map<string, Candidate>();
  for (const candidate of candidates) {
    const { row, policy } = candidate;
    if (policy === "allow") turns.set(row, { kind: "go" });
    else if (row.scheduledFor < (oldest.get(row.scheduleId)?.row.scheduledFor ?? Number.POSITIVE_INFINITY))
      oldest.set(row.scheduleId, candidate);
  }
  if (oldest.size === 0) return turns;

  const gated = [...oldest.values()];
  // First the gates, then the holders: a holder that comes back to life in between moves its gate, and the passage fails.
  const gates = await engine.occurrences.readGates(gated.map(({ row }) => row.scheduleId));
  const holders = await readHolders(engine, gated, gates);
  const now = engine.clock.now();
  const passages: { candidate: Candidate; asRead: Gate | undefined }[] = [];
  for (const [index, candidate] of gated.entries()) {
    const gate = gates[index];
    const holder = holders.get(candidate.row);
    if (gate === undefined || gate.kind === "failed" || holder?.kind === "failed") continue;
    const standing = holder?.kind === "found" ? holder.row : undefined;
    const turn = turnOf(candidate.row, candidate.policy, standing, now);
    if (turn.kind === "go") passages.push({ candidate, asRead: gate.kind === "found" ? gate.row : undefined });
    else turns.set(candidate.row, turn);
    if (turn.kind === "replace" && standing !== undefined) await cancelHolder(engine, standing, now);
  }
  const passed = await engine.occurrences.passGates(
    passages.map(({ candidate: { row }, asRead }) => ({ scheduleId: row.scheduleId, asRead, holder: row.firing })),
  );
  for (const [index, { candidate }] of passages.entries())
    if (passed[index]?.kind === "passed") turns.set(candidate.row, { kind: "go" });
  return turns;
}

async function readHolders(
  engine: Engine,
  gated: readonly Candidate[],
  gates: readonly ReadVerdict<Gate>[],
): Promise<ReadonlyMap<DueRow, ReadVerdict<Occurrence>>> {
  const held = gated.flatMap(({ row }, index) => {
    const gate = gates[index];
    return gate?.kind === "found" ? [{ row, key: { scheduleId: row.scheduleId, firing: gate.row.holder } }] : [];
  });
  if (held.length === 0) return new Map();
  const verdicts = await engine.occurrences.read(held.map(({ key }) => key));
  return new Map(
    held.map(({ row }, index) => [row, verdicts[index] ?? { kind: "failed", error: new Error("no answer") }]),
  );
}

async function cancelHolder(engine: Engine, holder: Occurrence, now: Instant): Promise<void> {
  const next = transition(holder, { type: "cancel" }, now, engine.settings);
  if (next.kind === "refused") return;
  const key = { scheduleId: holder.scheduleId, firing: holder.firing };
  const isMine = (row: Occurrence) => row.status === "CANCELLED";
  await writeSettled(engine, [{ key, guard: next.guard, change: next.change, isMine }]);
  engine.logger.info("a run was cancelled: the next firing of its schedule replaces it", { key: formatKey(key) });
}

/** After the end of a run whose schedule's runs must not overlap: a row that waits for its turn is due now. */
export async function bringForward(engine: Engine, ended: Occurrence): Promise<void> {
  if (ended.overlap === "allow") return;
  const { rows } = await engine.occurrences.history({
    scheduleId: ended.scheduleId,
    newestFirst: true,
    limit: WAITING_ROWS,
    statuses: ["PENDING"],
  });
  const now = engine.clock.now();
  const waiting = rows.filter((row) => row.dueAt !== undefined && row.dueAt > now && row.firstDueAt <= now);
  // The oldest head, or what is no head: the chain holds one waiting head at a time.
  const next = waiting.toSorted((left, right) => Number(isHead(right)) - Number(isHead(left)))[0];
  const moved = next && transition(next, { type: "defer", dueAt: now }, now, engine.settings);
  if (next === undefined || moved?.kind !== "write") return;
  const write: SettleableWrite = {
    key: { scheduleId: next.scheduleId, firing: next.firing },
    guard: moved.guard,
    change: moved.change,
    isMine: (row) => row.dueAt === now,
  };
  await writeSettled(engine, [write]);
}
