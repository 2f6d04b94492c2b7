import { LocalEngineError } from "../errors.ts";

/** The oldest Node that everything here runs on (`engines` in package.json). */
export const NODE_MAJOR_MIN = 20;

/** Throws {@link LocalEngineError} when `version` (`process.versions.node`) is older than {@link NODE_MAJOR_MIN}. */
export function checkNodeVersion(version: string): void {
  if (Number.parseInt(version, 10) < NODE_MAJOR_MIN)
    throw new LocalEngineError(`Node must be ${NODE_MAJOR_MIN} or newer, got ${version}`);
}
