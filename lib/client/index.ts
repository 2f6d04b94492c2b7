export type { BackfillOutcome, BackfillProgress } from "../app/manage/backfill.ts";
export type { BackfillCounts } from "../app/manage/backfill-plan.ts";
export { authoredPart, type CheckedDefinition } from "../app/manage/check.ts";
export type { DeadLetters } from "../app/manage/dead-letters.ts";
export {
  InvalidArgumentError,
  OccurrenceBusyError,
  OccurrenceNotFoundError,
  OccurrenceStateError,
  ScheduleExistsError,
  ScheduleNotFoundError,
} from "../app/manage/errors.ts";
export type { OccurrenceQuery } from "../app/manage/occurrences.ts";
export type { MissedFirings, PauseOptions, ResumeOutcome } from "../app/manage/pause.ts";
export type { RunNowOptions, RunNowOutcome } from "../app/manage/run-now.ts";
export type { PutOutcome, StandingSchedule } from "../app/manage/schedules.ts";
export {
  type BackfillRequest,
  checkAnywhere,
  createSchedulerClient,
  type ListOptions,
  type SchedulerClient,
} from "./client.ts";
export { type Connection, type ConnectOptions, connect } from "./connect.ts";
export { TargetError, UnnamedTargetError } from "./errors.ts";
export { keyOf, type OccurrenceName } from "./names.ts";
export type { TargetOptions } from "./target.ts";
