/** The pure part: firing times, identities, errors, types. It imports no SDK and reads no environment. */
export { InvalidScheduleError, type Problem, PunctualError } from "./core/errors.ts";
export { describeSchedule, firingsBetween, nextFirings } from "./core/firing/public.ts";
export { manualOccurrenceId, occurrenceIdAt } from "./core/ids.ts";
export { type Instant, instant } from "./core/instant.ts";
export type { OccurrenceMessage } from "./core/message.ts";
export type { OccurrenceKey, OccurrenceKind, OccurrenceStatus } from "./core/occurrence.ts";
export type { RetryPolicy } from "./core/retry.ts";
export type { ScheduleDefinition } from "./core/schedule-definition.ts";
