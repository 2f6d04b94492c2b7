import { Logger as PowertoolsLogger } from "@aws-lambda-powertools/logger";
import type { Logger } from "../app/ports.ts";
import type { Settings } from "./env.ts";
import type { ProgramName } from "./names.ts";

/** A logger that writes one JSON line an entry, warnings and errors to stderr: Lambda takes both to the function's log group. */
export function createLogger(
  { deployment, logLevel }: Pick<Settings, "deployment" | "logLevel">,
  programName: ProgramName,
): Logger {
  const logger = new PowertoolsLogger({
    serviceName: deployment,
    logLevel,
    persistentKeys: { function: programName },
  });
  return {
    debug: (message, fields = {}) => logger.debug(message, fields),
    info: (message, fields = {}) => logger.info(message, fields),
    warn: (message, fields = {}) => logger.warn(message, fields),
    error: (message, fields = {}) => logger.error(message, fields),
  };
}
