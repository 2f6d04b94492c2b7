import { type Instant, toIso } from "../../core/instant.ts";
import { formatKey, type Occurrence } from "../../core/occurrence.ts";
import type { ScheduleLine } from "./state.ts";
import { details, oneLine } from "./words.ts";

/** Longer lines help nobody; an error's message is the only part without a bound of its own. */
const LINE_MAX_CHARACTERS = 400;

/** Steps on the way to an outcome, which would only double the lines. */
const SILENT: ReadonlySet<string> = new Set(["PENDING", "DISPATCHED", "RUNNING"]);

/** The line that tells how a run went on, for a log without redrawing; `undefined` for a step that is not worth one. */
export function occurrenceChange(row: Occurrence, before: Occurrence | undefined, now: Instant): string | undefined {
  const again = row.status === "RETRYING" && row.attempts !== before?.attempts;
  if (SILENT.has(row.status) || (row.status === before?.status && !again)) return undefined;
  // As of the end of the attempt: by the time its line is printed a short delay would be over.
  return line(now, row.status, formatKey(row), ...details(row, row.log.at(-1)?.endedAt ?? now));
}

/** The line that tells of a schedule's change, `undefined` when nothing that shows has changed. */
export function scheduleChange(
  schedule: ScheduleLine,
  before: ScheduleLine | undefined,
  now: Instant,
): string | undefined {
  const { scheduleId, when, state, problem } = schedule;
  if (before?.when === when && before.state === state && before.problem === problem) return undefined;
  return line(now, "schedule", scheduleId, state, problem ?? when);
}

/** The line that tells that a schedule was deleted. */
export const scheduleRemoval = (scheduleId: string, now: Instant): string =>
  line(now, "schedule", scheduleId, "deleted");

function line(now: Instant, what: string, name: string, ...rest: string[]): string {
  const text = [`${toIso(now)} ${what.padEnd("DEAD_LETTERED".length)} ${name}`, ...rest].join(", ");
  return oneLine(text, LINE_MAX_CHARACTERS);
}
