import { PunctualError } from "../core/errors.ts";

/** The store's time is not known well enough to decide what is due. Nothing may be claimed until it is. */
export class ClockUnavailableError extends PunctualError {
  constructor(message: string, options?: ErrorOptions) {
    super("ClockUnavailable", message, options);
  }
}
