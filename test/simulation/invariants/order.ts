import { formatKey, type Occurrence } from "../../../lib/core/occurrence.ts";
import type { Process } from "../world/process.ts";
import { CLOCK_BEHIND_MS, finding, type InvariantOf, isClaim, isHeadRow } from "./invariant.ts";

/** A firing that is still to take its turn: a head, or a missed one that is caught up with. */
const isToCome = (row: Occurrence): boolean =>
  isHeadRow(row) ||
  (row.kind === "backfill" && row.misfire !== undefined && row.status === "PENDING" && row.fencingToken === 0);

/** A firing that is to come, and since when its row stands. */
interface ToCome {
  readonly row: Occurrence;
  readonly since: number;
}

/** Whose turn it is in a schedule, and which older firing it went before, if it did. */
interface Turn {
  readonly firing: string;
  readonly older: string | undefined;
}

/**
 * Where the runs of a schedule wait for each other, its firings take their turns oldest first: none goes while an older one stands that
 * was due when the dispatcher looked. One that comes only when a younger one has had its turn is late for any order.
 */
export const oldestGoesFirst: InvariantOf = (world) => {
  const toCome = new Map<string, Map<string, ToCome>>();
  const turns = new Map<string, Turn>();
  /** The youngest firing of a schedule that has had its turn. */
  const youngest = new Map<string, number>();
  const looks = new WeakMap<Process, Map<string, number>>();

  const note = (key: string, row: Occurrence, at: number): void => {
    const of = toCome.get(row.scheduleId) ?? new Map<string, ToCome>();
    toCome.set(row.scheduleId, of);
    of.set(key, { row, since: of.get(key)?.since ?? at });
  };
  const take = (scheduleId: string, firing: string, by: Process): void => {
    if (turns.get(scheduleId)?.firing === firing) return;
    const of = toCome.get(scheduleId);
    const taken = of?.get(formatKey({ scheduleId, firing }));
    const { scheduledFor } = taken?.row ?? {};
    if (of === undefined || scheduledFor === undefined) {
      turns.set(scheduleId, { firing, older: undefined });
      return;
    }
    const passed = youngest.get(scheduleId) ?? Number.NEGATIVE_INFINITY;
    const lookedAt = looks.get(by)?.get(formatKey({ scheduleId, firing })) ?? 0;
    const older = [...of].find(
      ([, { row, since }]) =>
        row.scheduledFor < scheduledFor &&
        row.scheduledFor > passed &&
        since < lookedAt &&
        row.firstDueAt < lookedAt - CLOCK_BEHIND_MS,
    );
    turns.set(scheduleId, { firing, older: older?.[0] });
    youngest.set(scheduleId, Math.max(passed, scheduledFor));
  };

  return {
    name: "the oldest goes first",
    on: {
      looked: ({ askedAt, rows, ahead, by }) => {
        if (by === undefined) return undefined;
        const own = looks.get(by) ?? new Map<string, number>();
        looks.set(by, own);
        for (const row of [...rows, ...ahead]) own.set(formatKey(row), askedAt);
        return undefined;
      },
      "turn-taken": ({ scheduleId, firing, by }) => {
        if (by) take(scheduleId, firing, by);
      },
      row: ({ key, old, new: row, at }) => {
        if (row && isToCome(row)) note(key, row, at);
        else if (old && isToCome(old)) toCome.get(old.scheduleId)?.delete(key);
      },
      moved: (change) => {
        if (!isToCome(change.old) || !isClaim(change)) return undefined;
        const { key, new: row } = change;
        const { scheduleId, firing, overlap } = row;
        const turn = turns.get(scheduleId);
        if (overlap !== "wait" || turn?.firing !== firing || turn.older === undefined || world.clocksAreWrong)
          return undefined;
        return finding(scheduleId, `${key} took its turn before ${turn.older}, which was older and due`);
      },
    },
  };
};
