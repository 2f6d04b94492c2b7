import { mkdtemp, readdir, rm } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { isAlive } from "./alive.ts";
import { isNamed } from "./errors.ts";

/**
 * Makes a directory for this process's files of one `purpose`, for the caller to remove, under `parent`. Those that processes
 * of this host left behind when they were killed are removed first.
 */
export async function temporaryDirectory(purpose: string, parent: string = tmpdir()): Promise<string> {
  // With the host's name: containers may share a directory, and know nothing of each other's processes.
  const prefix = `punctual-${purpose}-${hostname()}-`;
  for (const name of await readdir(parent)) {
    const [, pid] = (name.startsWith(prefix) && /^(\d+)-/.exec(name.slice(prefix.length))) || [];
    if (pid !== undefined && !isAlive(Number(pid))) await removeLeftover(join(parent, name));
  }
  return mkdtemp(join(parent, `${prefix}${process.pid}-`));
}

async function removeLeftover(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch (error) {
    // Another user's is for that user to remove, and ENOTEMPTY is another engine removing it now.
    if (!["EACCES", "EPERM", "ENOTEMPTY"].some((code) => isNamed(error, code))) throw error;
  }
}
