import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { isNamed } from "../errors.ts";

/** How far each stream has been processed: the last sequence number, by source and shard. */
export interface Checkpoints {
  get(key: string): string | undefined;
  set(key: string, sequenceNumber: string): void;
  /** Resolves once all that was set is kept. */
  flush(): Promise<void>;
}

/** Checkpoints that live as long as this process: right for streams that live in memory too. */
export function memoryCheckpoints(): Checkpoints {
  const reached = new Map<string, string>();
  return {
    get: (key) => reached.get(key),
    set: (key, sequenceNumber) => void reached.set(key, sequenceNumber),
    flush: async () => {},
  };
}

const FILE = "stream-checkpoints.json";

/**
 * Checkpoints kept in `directory` beside the tables, so that a restart does not process a day's records again. After a crash
 * the last ones may be missing: a few records come again, as they may in AWS.
 */
export async function fileCheckpoints(directory: string): Promise<Checkpoints> {
  const path = join(directory, FILE);
  const reached = new Map(Object.entries(await read(path)));
  let writing = Promise.resolve();
  let pending = false;
  // One write at a time, each with whatever has been reached by then.
  const write = async (): Promise<void> => {
    pending = false;
    await writeFile(`${path}.new`, JSON.stringify(Object.fromEntries(reached)));
    await rename(`${path}.new`, path);
  };
  return {
    get: (key) => reached.get(key),
    set: (key, sequenceNumber) => {
      reached.set(key, sequenceNumber);
      if (pending) return;
      pending = true;
      writing = writing.then(write);
    },
    flush: () => writing,
  };
}

async function read(path: string): Promise<Record<string, string>> {
  try {
    return z.record(z.string(), z.string()).parse(JSON.parse(await readFile(path, "utf8")));
  } catch (error) {
    if (isNamed(error, "ENOENT")) return {};
    throw error;
  }
}
