import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { LOCAL_ENGINE } from "../core/local-engine.ts";
import { environmentOf } from "../runtime/env.ts";
import type { Closing } from "./closing.ts";
import type { LocalScheduler } from "./start.ts";

/**
 * Says in files of `directory` how the scheduler is reached, for `punctual --local` and for workers, until `closing` closes. A
 * later engine of the same directory takes the files over, and then also removes them.
 */
export async function writeAddressFiles(
  { endpoints, settings }: Pick<LocalScheduler, "endpoints" | "settings">,
  directory: string,
  closing: Closing,
): Promise<void> {
  const { dynamodb, sqs, eventbridge } = endpoints;
  const environment = environmentOf(settings);
  const address = JSON.stringify({ dynamodb, sqs, environment }, undefined, 2);
  await writeUntilClosed(join(directory, LOCAL_ENGINE.file), address, closing);
  const { accessKeyId, secretAccessKey } = LOCAL_ENGINE.credentials;
  const variables = {
    ...environment,
    AWS_REGION: LOCAL_ENGINE.region,
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_ENDPOINT_URL_DYNAMODB: dynamodb,
    AWS_ENDPOINT_URL_SQS: sqs,
    AWS_ENDPOINT_URL_EVENTBRIDGE: eventbridge,
  };
  const lines = Object.entries(variables).map(([name, value]) => `${name}='${value}'`);
  await writeUntilClosed(join(directory, LOCAL_ENGINE.workerFile), lines.join("\n"), closing);
}

async function writeUntilClosed(path: string, text: string, closing: Closing): Promise<void> {
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
