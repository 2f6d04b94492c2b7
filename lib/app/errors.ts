import { formatProblems, type Problem, PunctualError } from "../core/errors.ts";
import { shown } from "../core/validation.ts";

/** The store's time is not known well enough to decide what is due. Nothing may be claimed until it is. */
export class ClockUnavailableError extends PunctualError {
  constructor(message: string, options?: ErrorOptions) {
    super("ClockUnavailable", message, options);
  }
}

/** The store did not do what it was asked, or its answer cannot be used; `cause` has the SDK's own error. */
export class StoreError extends PunctualError {
  constructor(message: string, options?: ErrorOptions) {
    super("Store", message, options);
  }
}

/** A row in the store does not have the shape of one: somebody else wrote it. */
export class MalformedRowError extends StoreError {
  constructor(key: string, problems: readonly Problem[]) {
    super(`row ${key} cannot be read: ${formatProblems(problems)}`);
  }
}

/** A page cursor that this store did not give out. */
export class InvalidCursorError extends PunctualError {
  constructor(cursor: string, options?: ErrorOptions) {
    super("InvalidCursor", `cursor must be one that an earlier page gave, got ${shown(cursor)}`, options);
  }
}
