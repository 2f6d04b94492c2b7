import { PunctualError } from "../core/errors.ts";

/** A setting of the deployment that cannot be used. The message says which, in one line. */
export class InvalidDeploymentError extends PunctualError {
  constructor(message: string, options?: ErrorOptions) {
    super("InvalidDeployment", message, options);
  }
}
