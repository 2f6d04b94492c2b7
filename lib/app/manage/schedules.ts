import { errorMessage } from "../../core/errors.ts";
import { parseSchedule, type ScheduleResult } from "../../core/schedule.ts";
import { definitionVersion } from "../../core/schedule-version.ts";
import { mapBounded } from "../bounded.ts";
import { StoreError } from "../errors.ts";
import type { Page, ScheduleItem } from "../ports.ts";
import { ScheduleNotFoundError, ScheduleVersionError } from "./errors.ts";
import { limitsFor, type Manager } from "./manager.ts";

/** A schedule as it stands: its item to the letter, and what that means. */
export interface StandingSchedule {
  readonly item: ScheduleItem;
  readonly parsed: ScheduleResult;
  /** The version of its definition, valid or not: what a put on condition names. */
  readonly version: string;
}

/** What became of one put. */
export type PutOutcome =
  | { readonly kind: "put"; readonly scheduleId: string }
  /** It was to be created and stands already. */
  | { readonly kind: "exists"; readonly scheduleId: string }
  | { readonly kind: "failed"; readonly scheduleId: string; readonly error: Error };

/** Puts in flight at a time: enough to hide the round trip, too few to be throttled. */
const PUTS_AT_ONCE = 16;

/** Puts definitions that were checked before, and answers for each: one that fails leaves the others alone. */
export async function putSchedules(
  { schedules }: Pick<Manager, "schedules">,
  items: readonly ScheduleItem[],
  expect: "any" | "absent",
): Promise<readonly PutOutcome[]> {
  const putOne = async (item: ScheduleItem): Promise<PutOutcome> => {
    const { scheduleId } = item;
    try {
      return { kind: (await schedules.put(item, expect)) === "put" ? "put" : "exists", scheduleId };
    } catch (thrown) {
      const error = thrown instanceof Error ? thrown : new StoreError(errorMessage(thrown), { cause: thrown });
      return { kind: "failed", scheduleId, error };
    }
  };
  return mapBounded(items, PUTS_AT_ONCE, putOne);
}

/** How often a put on condition starts over because an attribute changed and changed back under it. */
const TRIES_MAX = 3;

/**
 * Puts a definition that was checked before in the place of the one of that version; what others than the author wrote
 * meanwhile is no obstacle. Throws `ScheduleVersionError` where another stands or none, and `StoreError`.
 */
export async function putIfVersion(
  manager: Pick<Manager, "schedules" | "settings">,
  item: ScheduleItem,
  ifVersion: string,
): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    const [standing] = await readSchedules(manager, [item.scheduleId]);
    if (standing?.version !== ifVersion || tries === TRIES_MAX)
      throw new ScheduleVersionError(item.scheduleId, ifVersion, standing?.version);
    if ((await manager.schedules.put(item, { asRead: standing.item })) === "put") return;
  }
}

/** The schedules of these ids, in their order; `undefined` where there is none. Throws `StoreError` when one cannot be read. */
export async function readSchedules(
  manager: Pick<Manager, "schedules" | "settings">,
  scheduleIds: readonly string[],
): Promise<readonly (StandingSchedule | undefined)[]> {
  const verdicts = scheduleIds.length === 0 ? [] : await manager.schedules.read(scheduleIds);
  return verdicts.map((verdict) => {
    if (verdict.kind === "failed") throw verdict.error;
    return verdict.kind === "found" ? standing(manager, verdict.row) : undefined;
  });
}

/** The schedule of this id. Throws `ScheduleNotFoundError` where there is none, `StoreError` when it cannot be read. */
export async function requireSchedule(
  manager: Pick<Manager, "schedules" | "settings">,
  scheduleId: string,
): Promise<StandingSchedule> {
  const [found] = await readSchedules(manager, [scheduleId]);
  if (found === undefined) throw new ScheduleNotFoundError(scheduleId);
  return found;
}

/** A page of all schedules, or of a group's, in no order. */
export async function listSchedules(
  manager: Pick<Manager, "schedules" | "settings">,
  query: { readonly limit: number; readonly group?: string; readonly cursor?: string },
): Promise<Page<StandingSchedule>> {
  const { rows, cursor } = await manager.schedules.list(query);
  return { rows: rows.map((item) => standing(manager, item)), ...(cursor !== undefined && { cursor }) };
}

const standing = ({ settings }: Pick<Manager, "settings">, item: ScheduleItem): StandingSchedule => ({
  item,
  parsed: parseSchedule(item, limitsFor(settings, item)),
  version: definitionVersion(item),
});
