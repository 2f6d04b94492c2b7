import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { errorMessage } from "../../core/errors.ts";
import { isAlive } from "../alive.ts";
import { isNamed, LocalEngineError } from "../errors.ts";

/** Names the process whose engine works on the directory. */
const CLAIM_FILE = "engine.pid";

/**
 * Makes `dataDir` this process's own: two engines on one file each miss what the other writes. Answers how to give it back.
 * Throws {@link LocalEngineError} where it cannot be written to, or another process that still runs has it; what a process that
 * died left behind is taken over.
 */
export async function claimDataDir(dataDir: string): Promise<() => Promise<void>> {
  const path = join(dataDir, CLAIM_FILE);
  try {
    await mkdir(dataDir, { recursive: true });
    await claim(dataDir, path);
  } catch (error) {
    if (error instanceof LocalEngineError) throw error;
    throw new LocalEngineError(`--data-dir must be a directory to write to, got ${dataDir}: ${errorMessage(error)}`, {
      cause: error,
    });
  }
  return () => rm(path, { force: true });
}

async function claim(dataDir: string, path: string): Promise<void> {
  if (!(await created(path))) {
    const holder = Number(await readFile(path, "utf8"));
    if (holder !== process.pid && isAlive(holder))
      throw new LocalEngineError(
        `--data-dir ${dataDir} must not be in use, got one of process ${holder}: end that engine, or delete ${path} if it is none`,
      );
    await writeFile(path, String(process.pid));
  }
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
