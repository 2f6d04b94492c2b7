import { isHandedOver, isTerminal, type Occurrence } from "../../../lib/core/occurrence.ts";
import type { Seen } from "../world/facts.ts";
import type { World } from "../world/world.ts";

/** What an invariant found wrong, and with which occurrence or schedule. */
export interface Finding {
  readonly key: string | undefined;
  readonly message: string;
}

/** A finding with the invariant's name and the true time at which it was made. */
export interface Violation extends Finding {
  readonly invariant: string;
  readonly at: number;
}

/** What can be listened to: facts by their type, and after the fact of a row that was there before and still is, its change. */
export type Heard = { readonly [Type in Seen["type"]]: Extract<Seen, { readonly type: Type }> } & {
  readonly moved: Moved;
};

/** A property of everything that happens. It sees the facts that it listens to in order, and the world once the faults have healed. */
export interface Invariant {
  readonly name: string;
  readonly on?: { readonly [Type in keyof Heard]?: (fact: Heard[Type]) => Finding | undefined };
  /** Some minutes after the last fault, before any sweep has run since: what must have come right by itself. */
  afterHealing?(world: World): readonly Finding[];
  /** When nothing is left to do. */
  atEnd?(world: World): readonly Finding[];
}

/** Makes an invariant that watches `world`. */
export type InvariantOf = (world: World) => Invariant;

/** By how much a process's reading of the store's time may be behind, with the way of a write. */
export const CLOCK_BEHIND_MS = 2_500;

/** A finding about a run or schedule. */
export const finding = (key: string | undefined, message: string): Finding => ({ key, message });

/** A row that was there before and still is. */
export type Moved = { readonly key: string; readonly old: Occurrence; readonly new: Occurrence } & Pick<
  Seen,
  "at" | "by"
>;

/** The change of a row that was there before and still is; nothing for any other fact. */
export function moved(fact: Seen): Moved | undefined {
  if (fact.type !== "row" || fact.old === undefined || fact.new === undefined) return undefined;
  return { key: fact.key, old: fact.old, new: fact.new, at: fact.at, by: fact.by };
}

/** An attempt was taken. */
export const isClaim = ({ old, new: row }: Moved): boolean =>
  row.status === "DISPATCHED" && row.fencingToken > old.fencingToken;

/** The same attempt was taken up once more. */
export const isClaimAgain = ({ old, new: row }: Moved): boolean =>
  old.status === "DISPATCHED" &&
  row.status === "DISPATCHED" &&
  row.fencingToken === old.fencingToken &&
  row.owner !== old.owner;

/** An attempt was started. */
export const isStart = ({ old, new: row }: Moved): boolean => old.status === "DISPATCHED" && row.status === "RUNNING";

/** An attempt was taken whose send is followed by another write: taken up again, done once SQS has it, or never to be had by SQS. */
export const isFollowedUp = (change: Moved, world: Pick<World, "hasQueue">): boolean =>
  isClaimAgain(change) || (isClaim(change) && (isHandedOver(change.new) || !world.hasQueue(change.new.queue)));

/** A finished run was wanted again. */
export const isRevival = ({ old, new: row }: Moved): boolean => isTerminal(old.status) && row.status === "PENDING";

/** The run ended as one that somebody must look at. */
export const isDeath = ({ old, new: row }: Moved): boolean =>
  (row.status === "FAILED" || row.status === "DEAD_LETTERED") && old.status !== row.status;

/** A row that carries its schedule's chain on: of the chain itself, and never claimed. */
export const isHeadRow = ({ status, kind, fencingToken }: Occurrence): boolean =>
  status === "PENDING" && kind === "scheduled" && fencingToken === 0;

/**
 * A row that is no head and waits for its turn behind a schedule whose firings replace one another faster than they end:
 * such a schedule gives it none.
 */
export const mayWaitForEver = ({ status, fencingToken, overlap }: Occurrence): boolean =>
  status === "PENDING" && fencingToken === 0 && overlap === "replace";
