import { AS_READ_ATTRIBUTES } from "../../app/as-read.ts";
import type { ScheduleItem, ScheduleStore } from "../../app/ports.ts";
import { contentHash } from "../../core/ids.ts";
import { toIso } from "../../core/instant.ts";
import { isPaused } from "../../core/schedule.ts";
import { DEFINITION_ATTRIBUTES } from "../../core/schedule-definition.ts";
import { withoutUndefined } from "./apply.ts";
import { page } from "./page.ts";
import type { MemoryTable } from "./table.ts";

/** The Schedules table in memory. */
export const createMemoryScheduleStore = (table: MemoryTable<ScheduleItem>): ScheduleStore => ({
  read: async (scheduleIds) =>
    scheduleIds.map((scheduleId) => {
      const row = table.get(scheduleId);
      return row === undefined ? { kind: "missing" } : { kind: "found", row };
    }),
  list: async ({ group, ...query }) =>
    page(
      table.rows().filter((item) => group === undefined || item["group"] === group),
      ({ scheduleId }) => [scheduleId],
      query,
    ),
  put: async (item, expect) => {
    const standing = table.get(item.scheduleId);
    if (expect === "absent" && standing !== undefined) return "refused";
    if (typeof expect === "object" && !isSameDefinition(standing, expect.asRead)) return "refused";
    table.set(item.scheduleId, { ...pick(standing, isKept), ...pick(item, isAuthored), scheduleId: item.scheduleId });
    return "put";
  },
  remove: async (scheduleId) => (table.delete(scheduleId) === undefined ? "missing" : "removed"),
  removeAsRead: async (asRead) => {
    if (!isAsRead(table.get(asRead.scheduleId), asRead)) return "refused";
    table.delete(asRead.scheduleId);
    return "removed";
  },
  setStatus: async (asRead, { since, ...status }) => {
    const standing = table.get(asRead.scheduleId);
    if (standing === undefined || !isAsRead(standing, asRead)) return "refused";
    table.set(asRead.scheduleId, { ...standing, status: withoutUndefined({ ...status, since: toIso(since) }) });
    return "written";
  },
  pause: async (scheduleId, { at, ...pause }) => {
    const standing = table.get(scheduleId);
    if (standing === undefined) return "missing";
    if (isPaused(standing["paused"])) return "unchanged";
    table.set(scheduleId, { ...standing, paused: withoutUndefined({ ...pause, at: toIso(at) }) });
    return "written";
  },
  resume: async (scheduleId, resumedAt) => {
    const standing = table.get(scheduleId);
    if (standing === undefined) return "missing";
    if (!isPaused(standing["paused"])) return "unchanged";
    const { paused: _, ...others } = standing;
    table.set(scheduleId, { ...others, scheduleId, resumedAt: toIso(resumedAt) });
    return "written";
  },
});

/** Whether `standing` still says what `asRead` said about what fires; `undefined` is an item that does not exist. */
export const isAsRead = (standing: ScheduleItem | undefined, asRead: ScheduleItem | undefined): boolean =>
  standing === asRead || asReadHash(standing) === asReadHash(asRead);

const isSameDefinition = (standing: ScheduleItem | undefined, asRead: ScheduleItem): boolean =>
  hashOf(standing, DEFINITION_ATTRIBUTES) === hashOf(asRead, DEFINITION_ATTRIBUTES);

const asReadHash = (item: ScheduleItem | undefined): string | undefined => hashOf(item, AS_READ_ATTRIBUTES);

const hashOf = (item: ScheduleItem | undefined, attributes: readonly string[]): string | undefined =>
  item && contentHash(Object.fromEntries(attributes.map((name) => [name, item[name]])));

const isAuthored = (name: string): boolean => DEFINITION_ATTRIBUTES.includes(name);
const isKept = (name: string): boolean => !isAuthored(name);

const pick = (item: ScheduleItem | undefined, wanted: (name: string) => boolean): Record<string, unknown> =>
  Object.fromEntries(Object.entries(item ?? {}).filter(([name, value]) => wanted(name) && value !== undefined));
