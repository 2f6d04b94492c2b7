import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isNamed, LocalEngineError } from "../errors.ts";

/** Names the process whose engine works on the directory. */
const CLAIM_FILE = "engine.pid";

/**
 * Makes `dataDir` this process's own: two engines on one file each miss what the other writes. Answers how to give it back.
 * Throws {@link LocalEngineError} where another process that still runs has it; what a process that died left behind is taken over.
 */
export async function claimDataDir(dataDir: string): Promise<() => Promise<void>> {
  await mkdir(dataDir, { recursive: true });
  const path = join(dataDir, CLAIM_FILE);
  if (!(await created(path))) {
    const holder = Number(await readFile(path, "utf8"));
    if (holder !== process.pid && isAlive(holder))
      throw new LocalEngineError(
        `--data-dir ${dataDir} must not be in use, got one of process ${holder}: end that engine, or delete ${path} if it is none`,
      );
    await writeFile(path, String(process.pid));
  }
  return () => rm(path, { force: true });
}

async function created(path: string): Promise<boolean> {
  try {
    await writeFile(path, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    if (isNamed(error, "EEXIST")) return false;
    throw error;
  }
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Somebody else's process is alive too.
    return isNamed(error, "EPERM");
  }
}
