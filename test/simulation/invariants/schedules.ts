import * as z from "zod";
import { attemptId, formatKey } from "../../../lib/core/occurrence.ts";
import { DEFAULT_MISFIRE } from "../../../lib/core/schedule.ts";
import { isLive, type Reign, wants } from "../oracle/definitions.ts";
import { firingsWithin } from "../oracle/firings.ts";
import type { World } from "../world/world.ts";
import { type Finding, finding, type InvariantOf, isClaim, isHeadRow, type Moved } from "./invariant.ts";

/** A head comes up late by this at most, and a chain is without one for this long, while nothing goes wrong. */
export const SETTLED_MS = 120_000;

const keyOf = (scheduleId: string, at: number): string => `${scheduleId}@${new Date(at).toISOString()}`;

/** A head is claimed only where a definition in force between its instant and its claim fires it, and runs by that one. */
export const headsFireByTheirDefinition: InvariantOf = (world) => {
  return {
    name: "heads fire by their definition",
    on: {
      moved: (change) => {
        const { key, old, new: row, at } = change;
        if (!isHeadRow(old)) return undefined;
        const reigns = world.definitions.during(old.scheduleId, old.dueAt ?? old.scheduledFor, at);
        if (isClaim(change)) {
          const wanted = reigns.some(
            ({ item }) =>
              wants(item, old.scheduledFor) && item !== undefined && world.isVersionOf(row.scheduleVersion, item),
          );
          return wanted
            ? undefined
            : finding(key, "it was claimed, and no definition in force since its instant fires it so");
        }
        return skippedFor(change, reigns);
      },
    },
  };
};

function skippedFor({ key, old, new: row }: Moved, reigns: readonly Reign[]): Finding | undefined {
  if (row.status !== "SKIPPED" || row.skipReason === "misfire" || row.skipReason === "overlap") return undefined;
  return reigns.some(({ item }) => !wants(item, old.scheduledFor))
    ? undefined
    : finding(key, `it was skipped (${row.skipReason}), and every definition in force since its instant fires it`);
}

/** A firing is passed over as missed only by a decision that its row has carried since before: every later pass follows that one. */
export const misfiresAreRecordedFirst: InvariantOf = () => ({
  name: "misfires are recorded first",
  on: {
    moved: ({ key, old, new: row }) =>
      row.status !== "SKIPPED" || row.skipReason !== "misfire" || old.misfire || old.status === "SKIPPED"
        ? undefined
        : finding(key, "it was passed over, and no decision said so"),
  },
});

/** Every instant that the definition in force at that instant fires is run or recorded: by a row, or by a misfire's range. */
export const noInstantIsAbsent: InvariantOf = () => {
  const lost = new Set<string>();
  const takenAt = new Map<string, number>();
  const decidedAt = new Map<string, number>();
  const wished = new Set<string>();
  return {
    name: "no instant is absent",
    on: {
      moved: ({ key, old, new: row, at }) => {
        if (isHeadRow(old) && !isHeadRow(row)) takenAt.set(key, at);
        if (row.misfire && !old.misfire) decidedAt.set(key, at);
      },
      operator: ({ action, name }) => {
        if (action === "cancel") wished.add(name);
      },
      "record-lost": ({ scheduleId }) => {
        if (scheduleId !== undefined) lost.add(scheduleId);
      },
    },
    atEnd: (world) =>
      world.definitions.scheduleIds
        .filter((scheduleId) => !lost.has(scheduleId))
        .flatMap((scheduleId) =>
          world.definitions
            .of(scheduleId)
            .flatMap((reign) => absentIn(world, scheduleId, reign, { takenAt, decidedAt, wished })),
        ),
  };
};

/** What happened to rows: when heads were taken, when decisions were put on them, and which of them were to be cancelled. */
interface Happened {
  readonly takenAt: ReadonlyMap<string, number>;
  readonly decidedAt: ReadonlyMap<string, number>;
  readonly wished: ReadonlySet<string>;
}

function absentIn(
  world: World,
  scheduleId: string,
  { from, to, item, reconciled }: Reign,
  { takenAt, decidedAt, wished }: Happened,
): Finding[] {
  // A definition that lived for less than the stream's lag may go unnoticed.
  if (!isLive(item) || !reconciled) return [];
  const until = Math.min(to, (world.dueBefore ?? world.kernel.now) - SETTLED_MS);
  // What stood and was removed when history was over counts as what stands.
  const rows = [...world.expired.values(), ...world.store.allOccurrences()]
    .filter((row) => row.scheduleId === scheduleId)
    // What an earlier life of the schedule left cancelled must not stand in the way of a later one.
    .filter(
      (row) =>
        row.status !== "CANCELLED" ||
        wished.has(formatKey(row)) ||
        (row.endedAt ?? from) >= from ||
        row.scheduledFor <= from,
    );
  const standing = new Set(rows.map(({ firing }) => firing));
  // What is caught up with has rows of its own, unless the definition changes meanwhile.
  const covers = (at: number) =>
    rows.some(
      ({ misfire }) =>
        misfire !== undefined && misfire.from <= at && at <= misfire.to && (misfire.policy !== "all" || to <= until),
    );
  // What lay before the catch-up window is passed over: the row that decided says from when on it is caught up with.
  const windowMs = 1_000 * catchupWindowSecondsOf(item);
  const passedOver = (at: number) =>
    rows.some(
      (row) =>
        row.misfire?.policy === "all" &&
        row.scheduledFor < at &&
        at < row.misfire.from &&
        at < (decidedAt.get(formatKey(row)) ?? Number.NEGATIVE_INFINITY) - windowMs,
    );
  // Where dispatchers were behind when the definition changed, the old one's instants between are known to nobody any more.
  const outlived = (at: number) => {
    const before = rows.filter(({ scheduledFor }) => scheduledFor < at).sort((a, b) => b.scheduledFor - a.scheduledFor);
    const head = before.find((row) => takenAt.has(formatKey(row)) || isHeadRow(row));
    return head === undefined || (takenAt.get(formatKey(head)) ?? Number.POSITIVE_INFINITY) >= to;
  };
  return firingsWithin(item, from, until)
    .filter((at) => wants(item, at) && !standing.has(new Date(at).toISOString()) && !covers(at) && !passedOver(at))
    .filter((at) => to > until || !outlived(at))
    .map((at) => finding(keyOf(scheduleId, at), "its instant passed, and there is no row"));
}

const saysWindow = z.object({ misfire: z.object({ catchupWindowSeconds: z.number() }) });
const catchupWindowSecondsOf = (item: object): number =>
  saysWindow.safeParse(item).data?.misfire.catchupWindowSeconds ?? DEFAULT_MISFIRE.catchupWindowSeconds;

/** A schedule that fires has a head, without waiting for the sweep, except where a stream record was lost. */
export const chainsGoOn: InvariantOf = () => {
  const lost = new Set<string>();
  return {
    name: "chains go on",
    on: {
      "record-lost": ({ scheduleId }) => {
        if (scheduleId !== undefined) lost.add(scheduleId);
      },
    },
    afterHealing: (world) =>
      world.definitions.scheduleIds.flatMap((scheduleId): Finding[] => {
        const item = world.definitions.of(scheduleId).at(-1)?.item;
        const { now } = world.kernel;
        if (lost.has(scheduleId) || !isLive(item)) return [];
        const coming = firingsWithin(item, now, now + 86_400_000);
        // A one-shot's own run may have been cancelled: nothing follows it.
        const once = item["at"] !== undefined && coming.some((at) => world.row(keyOf(scheduleId, at)) !== undefined);
        if (coming.length === 0 || once) return [];
        const heads = world.store.allOccurrences().filter((row) => row.scheduleId === scheduleId && isHeadRow(row));
        const current = heads.filter(({ dueAt }) => dueAt !== undefined && dueAt > now - SETTLED_MS);
        return current.length > 0 ? [] : [finding(scheduleId, "it fires, and has no head")];
      }),
  };
};

/** Once a cancel has returned, nothing of the run starts any more; an attempt whose start was written before may be at work. */
export const cancelsHold: InvariantOf = () => {
  const cancelled = new Set<string>();
  const started = new Set<string>();
  return {
    name: "cancels hold",
    on: {
      moved: ({ key, new: row }) => {
        if (row.status === "RUNNING") started.add(attemptId(key, row.fencingToken));
      },
      operator: ({ action, phase, name }) => {
        if (action === "cancel" && phase === "done") cancelled.add(name);
      },
      "job-started": ({ attempt: { key, token } }) =>
        cancelled.has(key) && !started.has(attemptId(key, token))
          ? finding(key, `attempt ${token} began after its cancel had returned`)
          : undefined,
    },
  };
};
