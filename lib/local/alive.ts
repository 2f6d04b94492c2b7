import { isNamed } from "./errors.ts";

/** Whether a process of this machine has the id `pid`; a number that cannot be one has none. */
export function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Somebody else's process is alive too.
    return isNamed(error, "EPERM");
  }
}
