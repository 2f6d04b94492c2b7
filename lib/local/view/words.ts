import { type Instant, toIso } from "../../core/instant.ts";
import type { Occurrence } from "../../core/occurrence.ts";
import { startLatenessMs } from "./state.ts";

/** `14:05:30.012`: the time of day in UTC. */
export const timeOfDay = (at: Instant): string => toIso(at).slice(11, 23);

/** `12 ms`, `3.4 s`, `5 min`, `2 h`, `3 d`: a duration in its most telling unit. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1_000).toFixed(1)} s`;
  if (ms < 120_000) return `${Math.round(ms / 1_000)} s`;
  if (ms < 2 * 3_600_000) return `${Math.round(ms / 60_000)} min`;
  if (ms < 48 * 3_600_000) return `${Math.round(ms / 3_600_000)} h`;
  return `${Math.round(ms / 86_400_000)} d`;
}

/** Control characters, escapes that move the cursor among them, and line breaks: one line stays one line. */
const CONTROL = /\p{Cc}+/gu;

/** `text` in one line of at most `width` characters. */
export function oneLine(text: string, width: number): string {
  const clean = text.replace(CONTROL, " ").trim();
  return clean.length <= width ? clean : `${clean.slice(0, Math.max(0, width - 1))}…`;
}

/** `attempt 2/10`, `12 ms late`, `again in 0.8 s`, the error: what is worth knowing of a run beside its name and status. */
export function details(row: Occurrence, now: Instant): string[] {
  const lateMs = startLatenessMs(row);
  const error = row.lastError;
  return [
    ...(row.attempts > 0 ? [`attempt ${row.attempts}/${row.maxAttempts}`] : []),
    ...(lateMs === undefined ? [] : [`${duration(lateMs)} late`]),
    ...(row.status === "RETRYING" && row.dueAt !== undefined
      ? [row.dueAt > now ? `again in ${duration(row.dueAt - now)}` : "due again"]
      : []),
    ...(row.skipReason ? [row.skipReason] : []),
    ...(row.deadLetterReason ? [row.deadLetterReason] : []),
    ...(error && row.status !== "SUCCEEDED" ? [`${error.name}: ${error.message}`] : []),
  ];
}
