import { PunctualError } from "../../core/errors.ts";
import { formatKey, type OccurrenceKey } from "../../core/occurrence.ts";

/** There is no schedule of that id. */
export class ScheduleNotFoundError extends PunctualError {
  constructor(scheduleId: string) {
    super("ScheduleNotFound", `schedule ${scheduleId} does not exist`);
  }
}

/** A schedule that was to be created stands already. */
export class ScheduleExistsError extends PunctualError {
  constructor(scheduleId: string) {
    super("ScheduleExists", `schedule ${scheduleId} exists already; put replaces it`);
  }
}

/** A schedule's definition is not the one that the caller read: somebody else changed it, or it is gone. */
export class ScheduleVersionError extends PunctualError {
  readonly expected: string;
  /** The version that stands; absent where there is no such schedule. */
  readonly actual?: string;

  constructor(scheduleId: string, expected: string, actual: string | undefined) {
    const standing = actual ?? "none: it does not exist";
    super(
      "ScheduleVersion",
      `schedule ${scheduleId} must still be at version ${expected}, got ${standing}; read it again`,
    );
    this.expected = expected;
    if (actual !== undefined) this.actual = actual;
  }
}

/** There is no occurrence of that key: it never fired, or its row has expired. */
export class OccurrenceNotFoundError extends PunctualError {
  constructor(key: OccurrenceKey) {
    super("OccurrenceNotFound", `occurrence ${formatKey(key)} does not exist (or its history has expired)`);
  }
}

/** An occurrence is in a state that does not allow what was asked. */
export class OccurrenceStateError extends PunctualError {
  constructor(key: OccurrenceKey, reason: string) {
    super("OccurrenceState", `occurrence ${formatKey(key)}: ${reason}`);
  }
}

/** An occurrence changed under every one of several tries; asking again is safe. */
export class OccurrenceBusyError extends PunctualError {
  constructor(key: OccurrenceKey, tries: number) {
    super("OccurrenceBusy", `occurrence ${formatKey(key)} changed under each of ${tries} tries; try again`);
  }
}

/** A call's argument is not what it must be. */
export class InvalidArgumentError extends PunctualError {
  constructor(message: string) {
    super("InvalidArgument", message);
  }
}
