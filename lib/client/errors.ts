import { PunctualError } from "../core/errors.ts";

/** The deployment to work with cannot be found: no names, no such stack or table, no local engine. */
export class TargetError extends PunctualError {
  constructor(message: string, options?: ErrorOptions) {
    super("Target", message, options);
  }
}

/** Nothing says which deployment is meant. */
export class UnnamedTargetError extends TargetError {}
