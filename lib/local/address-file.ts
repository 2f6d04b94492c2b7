import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { LOCAL_ENGINE } from "../core/local-engine.ts";
import { environmentOf } from "../runtime/env.ts";
import type { Closing } from "./closing.ts";
import type { LocalScheduler } from "./start.ts";

/**
 * Says in a file of `directory` how the scheduler is reached, for `punctual --local`, until `closing` closes. A later engine of the same
 * directory takes the file over, and then also removes it.
 */
export async function writeAddressFile(
  { endpoints, settings }: Pick<LocalScheduler, "endpoints" | "settings">,
  directory: string,
  closing: Closing,
): Promise<void> {
  const path = join(directory, LOCAL_ENGINE.file);
  const { dynamodb, sqs } = endpoints;
  const text = JSON.stringify({ dynamodb, sqs, environment: environmentOf(settings) }, undefined, 2);
  await mkdir(dirname(path), { recursive: true });
  // A reader must never see half of it.
  const draft = `${path}.${process.pid}`;
  await writeFile(draft, `${text}\n`);
  await rename(draft, path);
  closing.add(async () => {
    // Somebody may have cleaned up before: then there is nothing to take away.
    const standing = await readFile(path, "utf8").catch(() => undefined);
    if (standing === `${text}\n`) await rm(path, { force: true });
  });
}
