import type { StandingSchedule } from "../../client/index.ts";
import { formatProblem } from "../../core/errors.ts";
import { describeTiming, nextFiring } from "../../core/firing/index.ts";
import type { Instant } from "../../core/instant.ts";
import { isPaused, pauseNote, type ScheduleState } from "../../core/schedule.ts";
import { DEFINITION_ATTRIBUTES } from "../../core/schedule-definition.ts";
import { upcoming } from "../firings.ts";
import { firingJson, firingsTable } from "./firings.ts";
import { facts, plainValue, table, utc } from "./text.ts";

/** How many coming firings `show` prints. */
const FIRINGS_SHOWN = 5;

/** What a schedule does now, by its definition; `status` on the item follows within moments. */
function stateOf({ parsed }: StandingSchedule, now: Instant): ScheduleState {
  if (parsed.kind === "invalid") return "INVALID";
  const { enabled, paused, timing } = parsed.schedule;
  if (!enabled) return "DISABLED";
  if (paused) return "PAUSED";
  return nextFiring(timing, now) === undefined ? "ENDED" : "ACTIVE";
}

/** Schedules as a table, by id. */
export function schedulesTable(schedules: readonly StandingSchedule[], now: Instant): string {
  const rows = schedules.map((standing) => {
    const { item, parsed } = standing;
    const state = stateOf(standing, now);
    const next = parsed.kind === "valid" && state === "ACTIVE" ? nextFiring(parsed.schedule.timing, now) : undefined;
    return [
      item.scheduleId,
      state,
      whenOf(item),
      plainValue(item["timezone"] ?? "UTC"),
      next === undefined ? "-" : utc(next.scheduledFor),
      plainValue(item["job"] ?? "default"),
      plainValue(item["group"] ?? "-"),
    ];
  });
  return table(["SCHEDULE", "STATE", "WHEN", "TIMEZONE", "NEXT (UTC)", "JOB", "GROUP"], rows);
}

/** Everything about one schedule, for people. */
export function scheduleDetails(standing: StandingSchedule, now: Instant): string {
  const { item, parsed, version } = standing;
  const state = stateOf(standing, now);
  const authored = DEFINITION_ATTRIBUTES.filter((name) => item[name] !== undefined && name !== "scheduleId");
  const lines = [
    `${item.scheduleId} (${state})`,
    ...facts({
      ...(parsed.kind === "valid" && { when: describeTiming(parsed.schedule.timing) }),
      version,
      paused: pauseText(item),
      ...Object.fromEntries(authored.map((name) => [name, plainValue(item[name])])),
    }).map((line) => `  ${line}`),
  ];
  if (parsed.kind === "invalid")
    return [...lines, "  problems:", ...parsed.problems.map((problem) => `    ${formatProblem(problem)}`)].join("\n");
  const { timing, warnings, definition } = parsed.schedule;
  const firings = state === "ACTIVE" ? upcoming(timing, now, FIRINGS_SHOWN) : [];
  return [
    ...lines,
    ...(definition.effects === undefined ? ["  note: this job may run twice; `effects` says how it bears that"] : []),
    ...warnings.map((warning) => `  warning: ${warning}`),
    ...(firings.length === 0
      ? []
      : firingsTable(firings, timing.timezone)
          .split("\n")
          .map((line) => `  ${line}`)),
  ].join("\n");
}

/** One schedule for programs: the item as it stands, and what it means. */
export function scheduleJson(standing: StandingSchedule, now: Instant, firingsShown = 1): Record<string, unknown> {
  const { item, parsed, version } = standing;
  const state = stateOf(standing, now);
  if (parsed.kind === "invalid") return { ...item, state, version, problems: parsed.problems };
  const { timing, warnings } = parsed.schedule;
  const firings = state === "ACTIVE" ? upcoming(timing, now, firingsShown) : [];
  return {
    ...item,
    state,
    version,
    when: describeTiming(timing),
    warnings,
    nextFirings: firings.map((firing) => firingJson(firing, timing.timezone)),
  };
}

const whenOf = (item: Readonly<Record<string, unknown>>): string =>
  plainValue(item["cron"] ?? item["rate"] ?? item["at"] ?? "-");

/** Who paused a schedule, when and why; `undefined` where it is not paused. */
function pauseText(item: Readonly<Record<string, unknown>>): string | undefined {
  if (!isPaused(item["paused"])) return undefined;
  const note = pauseNote(item);
  if (note === undefined) return "yes";
  const by = note.by === undefined ? "" : ` by ${note.by}`;
  return `since ${note.at}${by}${note.note === undefined ? "" : `: ${note.note}`}`;
}
