import type { ScheduleItem } from "../../../lib/app/ports.ts";
import { contentHash } from "../../../lib/core/ids.ts";
import type { Seen } from "../world/facts.ts";
import { hasFiringAt } from "./firings.ts";

/** What was said of a schedule from one write to the next. */
export interface Reign {
  readonly from: number;
  /** `Infinity` while it lasts. */
  readonly to: number;
  /** Absent while there is no such schedule. */
  readonly item: ScheduleItem | undefined;
  /** Whether its own record was processed before `to`: only then is it certain that it was heard of. */
  readonly reconciled: boolean;
}

/** What each schedule's item said, by the order of the writes; the system's own `status` aside. */
export class DefinitionHistory {
  readonly #reigns = new Map<string, { from: number; item: ScheduleItem | undefined; reconciled: boolean }[]>();

  /** Takes note of a fact, if it is of a schedule. */
  note(fact: Seen): void {
    if (fact.type === "reconciled") {
      const current = this.#reigns.get(fact.scheduleId)?.at(-1);
      if (current && fact.writtenAt >= current.from) current.reconciled = true;
    }
    if (fact.type !== "schedule") return;
    const reigns = this.#reigns.get(fact.scheduleId) ?? [];
    this.#reigns.set(fact.scheduleId, reigns);
    const last = reigns.at(-1);
    if (last && essence(last.item) === essence(fact.new)) last.item = fact.new;
    else reigns.push({ from: fact.at, item: fact.new, reconciled: false });
  }

  get scheduleIds(): readonly string[] {
    return [...this.#reigns.keys()];
  }

  /** All that was ever said of a schedule, oldest first. */
  of(scheduleId: string): readonly Reign[] {
    const reigns = this.#reigns.get(scheduleId) ?? [];
    return reigns.map((reign, index) => ({ ...reign, to: reigns[index + 1]?.from ?? Number.POSITIVE_INFINITY }));
  }

  /** What was in force at some moment of [from, to]. */
  during(scheduleId: string, from: number, to: number): readonly Reign[] {
    return this.of(scheduleId).filter((reign) => reign.from <= to && reign.to > from);
  }
}

const essences = new WeakMap<ScheduleItem, string>();

/** All that an item says but its status. Items are replaced, never changed. */
export function essence(item: ScheduleItem | undefined): string | undefined {
  if (item === undefined) return undefined;
  const known = essences.get(item);
  if (known !== undefined) return known;
  const { status: _, ...rest } = item;
  const made = contentHash(rest);
  essences.set(item, made);
  return made;
}

/** Whether a definition fires anything at all now: there, enabled and not paused. */
export const isLive = (item: ScheduleItem | undefined): item is ScheduleItem =>
  item !== undefined && item["enabled"] !== false && item["paused"] === undefined;

/** Whether `item` wants a run at the instant `at`. */
export function wants(item: ScheduleItem | undefined, at: number): boolean {
  if (!isLive(item) || !hasFiringAt(item, at)) return false;
  const resumedAt = item["resumedAt"];
  return typeof resumedAt !== "string" || at >= Date.parse(resumedAt);
}
