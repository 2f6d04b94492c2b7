import { POLL_MS } from "../../../lib/app/engine/dispatch.ts";
import { type DueRow, formatKey, type Occurrence } from "../../../lib/core/occurrence.ts";
import type { Process } from "../world/process.ts";
import type { World } from "../world/world.ts";
import { finding, type InvariantOf, isHeadRow } from "./invariant.ts";

/** How a dispatcher says that a look came to nothing. */
const FAILED = "a look at the due index failed";

/** Looks that may come sooner than a poll: the second of two where the store's time has just become known more closely. */
const SOON_MAX = 2;

/** Looks at a row that have led to no write of it yet, and since when nothing else explains them. */
interface Looks {
  readonly shown: DueRow;
  /** The row as it stood. */
  readonly stood: Occurrence;
  readonly at: number;
  readonly faults: number;
  /** What the dispatcher had changed by then: after a change it looks again at once. */
  readonly moves: number;
  readonly since: number;
  readonly count: number;
}

/**
 * What a dispatcher sees as due it writes, so that nothing sits at the front of the index: it looks at a row again without having
 * written it only where something stood in its way. That is a fault of its own, a look that it says has failed, somebody else's change of the row, or, no oftener
 * than its polls and its own changes bring it there, an index that showed the row as it was no longer, another run of a schedule
 * whose runs take turns, or an older head that was to decide a misfire first.
 */
export const visitsWrite: InvariantOf = (world) => {
  const looks = new WeakMap<Process, Map<string, Looks>>();
  const moves = new WeakMap<Process, number>();
  const headsMovedAt = new Map<string, number>();
  const isExplained = (before: Looks): boolean =>
    isStale(before) ||
    mayTakeTurns(before.shown, world) ||
    (isHeadRow(before.stood) && hadOlderHead(before, headsMovedAt, world));
  return {
    name: "visits write",
    on: {
      row: ({ key, old, at, by }) => {
        if (old && isHeadRow(old)) headsMovedAt.set(old.scheduleId, at);
        if (by === undefined) return undefined;
        looks.get(by)?.delete(key);
        moves.set(by, (moves.get(by) ?? 0) + 1);
        return undefined;
      },
      log: ({ message, by }) => {
        // It knows the store's time no more, say, and notices that itself.
        if (by && message.startsWith(FAILED)) looks.delete(by);
      },
      looked: ({ at, askedAt, rows, ahead, by }) => {
        if (by?.role !== "dispatcher") return undefined;
        const own = looks.get(by) ?? new Map<string, Looks>();
        looks.set(by, own);
        for (const shown of [...rows, ...ahead]) {
          const key = formatKey(shown);
          const before = own.get(key);
          const stood = world.row(key);
          if (stood === undefined) continue;
          const now = { at, shown, stood, faults: by.faults, moves: moves.get(by) ?? 0 };
          const fresh =
            before === undefined ||
            before.stood !== stood ||
            before.faults !== now.faults ||
            (before.moves !== now.moves && isExplained(before));
          if (fresh) own.set(key, { ...now, since: askedAt, count: 1 });
          else if (!isExplained(before)) return finding(key, "it was looked at again, and had not been written");
          else {
            const count = before.count + 1;
            const passedMs = askedAt - before.since;
            // Another release polls at a pace of its own.
            if (!world.hadAnotherRelease && count > SOON_MAX + passedMs / POLL_MS)
              return finding(key, `it was looked at ${count} times in ${passedMs} ms, and not written`);
            own.set(key, { ...now, since: before.since, count });
          }
        }
        return undefined;
      },
    },
  };
};

/** Whether the index showed the row as it was no longer; a head that another one has replaced differs by its version alone. */
const isStale = ({ shown, stood }: Looks): boolean =>
  stood.dueAt !== shown.dueAt ||
  stood.fencingToken !== shown.fencingToken ||
  stood.scheduleVersion !== shown.scheduleVersion;

/** Whether an older head of the schedule stood then, which may have moved since. */
const hadOlderHead = ({ shown, at }: Looks, movedAt: ReadonlyMap<string, number>, world: World): boolean =>
  (movedAt.get(shown.scheduleId) ?? 0) >= at ||
  world.store
    .allOccurrences()
    .some((row) => row.scheduleId === shown.scheduleId && isHeadRow(row) && row.scheduledFor < shown.scheduledFor);

/** By its own word or its schedule's. */
const mayTakeTurns = ({ overlap, scheduleId }: DueRow, world: World): boolean => {
  const item = world.store.allSchedules().find((one) => one.scheduleId === scheduleId);
  return overlap !== "allow" || (item?.["overlap"] ?? "allow") !== "allow";
};
