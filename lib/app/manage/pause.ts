import { countFirings } from "../../core/firing/index.ts";
import { fromIso, type Instant, plusMs } from "../../core/instant.ts";
import { pauseNote } from "../../core/schedule.ts";
import { ScheduleNotFoundError } from "./errors.ts";
import type { Manager } from "./manager.ts";
import { requireSchedule, type StandingSchedule } from "./schedules.ts";

/** Who pauses, and why. */
export interface PauseOptions {
  readonly by?: string;
  readonly note?: string;
}

/** The firings in `[from, to)` that a pause left out, counted up to a bound: with `more`, `count` reads "more than". */
export interface MissedFirings {
  readonly count: number;
  readonly more: boolean;
  readonly from: Instant;
  readonly to: Instant;
  /** Some of them are older than the kept history: a backfill asks for `rerun` then. Nothing of a pause ran before. */
  readonly beyondHistory: boolean;
}

/** What became of a resume. `missed` is absent where nothing says since when the schedule was paused. */
export type ResumeOutcome =
  | { readonly kind: "resumed"; readonly missed?: MissedFirings }
  | { readonly kind: "not-paused" };

/** Counting what was missed stops here. */
const MISSED_COUNT_MAX = 10_000;

/**
 * Stops a schedule's firings until it is resumed; what was already claimed finishes. One that is paused keeps its first
 * pause. Throws `ScheduleNotFoundError`.
 */
export async function pauseSchedule(
  { schedules, clock }: Manager,
  scheduleId: string,
  { by, note }: PauseOptions = {},
): Promise<"paused" | "already-paused"> {
  const pause = { at: clock.now(), ...(by !== undefined && { by }), ...(note !== undefined && { note }) };
  const verdict = await schedules.pause(scheduleId, pause);
  if (verdict === "missing") throw new ScheduleNotFoundError(scheduleId);
  return verdict === "written" ? "paused" : "already-paused";
}

/** Lets a schedule fire again from now on, and says what it missed. Throws `ScheduleNotFoundError`. */
export async function resumeSchedule(manager: Manager, scheduleId: string): Promise<ResumeOutcome> {
  const before = await requireSchedule(manager, scheduleId);
  const now = manager.clock.now();
  const verdict = await manager.schedules.resume(scheduleId, now);
  if (verdict === "missing") throw new ScheduleNotFoundError(scheduleId);
  if (verdict === "unchanged") return { kind: "not-paused" };
  const missed = missedSince(before, now, plusMs(now, -manager.settings.historySeconds * 1000));
  return { kind: "resumed", ...(missed && { missed }) };
}

/** What fell due in the pause: from its first instant on, up to but not at the resume, from which on everything fires. */
function missedSince({ item, parsed }: StandingSchedule, to: Instant, historyFrom: Instant): MissedFirings | undefined {
  if (parsed.kind === "invalid" || !parsed.schedule.enabled) return undefined;
  const { status, timing } = parsed.schedule;
  // Typed by hand, a pause may not say since when it is; the status does, from when it was noticed.
  const from = fromIso(pauseNote(item)?.at ?? "") ?? (status?.state === "PAUSED" ? status.since : undefined);
  if (from === undefined) return undefined;
  return {
    ...countFirings(timing, plusMs(from, -1), plusMs(to, -1), MISSED_COUNT_MAX),
    from,
    to,
    beyondHistory: from < historyFrom,
  };
}
