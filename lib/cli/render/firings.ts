import { DateTime } from "luxon";
import type { Firing, Resolution } from "../../core/firing/index.ts";
import { type Instant, toIso } from "../../core/instant.ts";
import { table, utc } from "./text.ts";

/** What a daylight-saving change did to a firing, in words. */
const RESOLUTIONS: Readonly<Record<Resolution, string>> = {
  gap: "moved: the clocks skip its time",
  repeated: "its time comes twice",
};

/** An instant as a clock on the wall of `timezone` shows it, with its offset: `Sun 2026-11-29 09:00:00 +01:00`. */
const localTime = (at: Instant, timezone: string): string =>
  DateTime.fromMillis(at, { zone: timezone }).setLocale("en").toFormat("ccc yyyy-MM-dd HH:mm:ss ZZ");

/** Firings as a table: local time, UTC, when they fall due where jitter moves that, and what a change of the clocks did. */
export function firingsTable(firings: readonly Firing[], timezone: string): string {
  const jitters = firings.some(({ scheduledFor, dueAt }) => dueAt !== scheduledFor);
  const header = [`LOCAL TIME (${timezone})`, "UTC", ...(jitters ? ["DUE, WITH JITTER"] : []), ""];
  const rows = firings.map(({ scheduledFor, dueAt, resolved }) => [
    localTime(scheduledFor, timezone),
    utc(scheduledFor),
    ...(jitters ? [utc(dueAt)] : []),
    resolved === undefined ? "" : RESOLUTIONS[resolved],
  ]);
  return table(header, rows);
}

/** A firing for programs. */
export const firingJson = ({ scheduledFor, dueAt, resolved }: Firing, timezone: string) => ({
  scheduledFor: toIso(scheduledFor),
  local: DateTime.fromMillis(scheduledFor, { zone: timezone }).toISO(),
  timezone,
  dueAt: toIso(dueAt),
  ...(resolved !== undefined && { resolved }),
});
