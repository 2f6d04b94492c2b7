import { PunctualError } from "../core/errors.ts";

/** Something outside this program keeps the local engine from working; the message is one line and says what to do. */
export class LocalEngineError extends PunctualError {
  constructor(message: string, options?: ErrorOptions) {
    super("LocalEngine", message, options);
  }
}

/** Whether `thrown` is an error of the AWS SDK, of Node or of our own with this name or code. */
export function isNamed(thrown: unknown, name: string): boolean {
  return thrown instanceof Error && (thrown.name === name || ("code" in thrown && thrown.code === name));
}
