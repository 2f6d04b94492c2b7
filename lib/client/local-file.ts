import { readFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { errorMessage, formatProblems } from "../core/errors.ts";
import { LOCAL_ENGINE } from "../core/local-engine.ts";
import { problemsOf } from "../core/validation.ts";
import { readEnvironment, type Settings } from "../runtime/env.ts";
import { TargetError } from "./errors.ts";

const schema = z.object(
  {
    dynamodb: z.url("must be DynamoDB's endpoint"),
    sqs: z.url("must be SQS's endpoint"),
    environment: z.record(z.string(), z.string("must be text"), "must be the functions' environment"),
  },
  "must be a map of dynamodb, sqs and environment",
);

/** How a local engine is reached, and the settings its functions run with. */
export interface LocalEngine {
  readonly dynamodb: string;
  readonly sqs: string;
  readonly settings: Settings;
}

/** Reads `LOCAL_ENGINE.file` in `directory`. Throws `TargetError` where no engine runs there, or its file is not one. */
export async function readLocalFile(directory: string): Promise<LocalEngine> {
  const path = join(directory, LOCAL_ENGINE.file);
  const text = await readFile(path, "utf8").catch((thrown: unknown) => {
    throw new TargetError(
      `no local engine was started in ${directory} (${LOCAL_ENGINE.file} cannot be read); npm start starts it`,
      { cause: thrown },
    );
  });
  const value = jsonOf(text, path);
  const parsed = schema.safeParse(value);
  if (!parsed.success)
    throw new TargetError(
      `${path} is not as the local engine writes it: ${formatProblems(problemsOf(parsed.error, value))}`,
    );
  const { environment, ...endpoints } = parsed.data;
  return { ...endpoints, settings: readEnvironment(environment) };
}

function jsonOf(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (thrown) {
    throw new TargetError(`${path} must be JSON: ${errorMessage(thrown)}`, { cause: thrown });
  }
}
