export type { BackfillOutcome, BackfillProgress } from "../app/manage/backfill.ts";
export { BACKFILL_FIRINGS_MAX, BACKFILL_LIMIT_MAX, type BackfillCounts } from "../app/manage/backfill-plan.ts";
export { authoredPart, type CheckedDefinition } from "../app/manage/check.ts";
export type { DeadLetters } from "../app/manage/dead-letters.ts";
export type { DeleteOptions } from "../app/manage/delete.ts";
export {
  InvalidArgumentError,
  OccurrenceBusyError,
  OccurrenceNotFoundError,
  OccurrenceStateError,
  ScheduleExistsError,
  ScheduleNotFoundError,
  ScheduleVersionError,
} from "../app/manage/errors.ts";
export type { OccurrenceQuery } from "../app/manage/occurrences.ts";
export type { MissedFirings, PauseOptions, ResumeOutcome } from "../app/manage/pause.ts";
export type { RunNowOptions, RunNowOutcome } from "../app/manage/run-now.ts";
export type { PutOutcome, StandingSchedule } from "../app/manage/schedules.ts";
export {
  WAIT_TIMEOUT_MAX_SECONDS,
  WAIT_TIMEOUT_SECONDS,
  type WaitOptions,
  type WaitOutcome,
} from "../app/manage/wait.ts";
export {
  type BackfillRequest,
  checkAnywhere,
  createSchedulerClient,
  type ListOptions,
  type PutOptions,
  type SchedulerClient,
} from "./client.ts";
export { type Connection, type ConnectOptions, connect } from "./connect.ts";
export { TargetError, UnnamedTargetError } from "./errors.ts";
export { keyOf, type OccurrenceName } from "./names.ts";
export type { TargetOptions } from "./target.ts";
