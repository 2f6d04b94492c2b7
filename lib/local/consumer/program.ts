import { rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { OWN_PACKAGE, REQUIRE_BANNER } from "../../construct/bundle.ts";
import { errorMessage } from "../../core/errors.ts";
import { LocalEngineError } from "../errors.ts";
import { temporaryDirectory } from "../temporary.ts";

const LIB = fileURLToPath(new URL("../../", import.meta.url));
const PROJECT = resolve(LIB, "..");

/** Which jobs a consumer here runs, beside the stock ones. */
export interface ProgramOptions {
  readonly examples: boolean;
  /** A TypeScript or JavaScript module whose default export is a map of jobs; it may lie anywhere. */
  readonly jobsFile?: string;
}

/** A consumer with its jobs, as a program that `fork` runs. */
export interface ConsumerProgram {
  readonly file: string;
  remove(): Promise<void>;
}

/**
 * Bundles the consumer with its jobs as for a deployment, so that each of its processes starts in a moment.
 * Throws {@link LocalEngineError} for a jobs file that is missing or does not compile.
 */
export async function bundleConsumer({ examples, jobsFile }: ProgramOptions): Promise<ConsumerProgram> {
  const directory = await temporaryDirectory("consumer");
  const remove = (): Promise<void> => rm(directory, { recursive: true, force: true });
  const file = join(directory, "consumer.mjs");
  const modules = [
    load(join(PROJECT, "functions/jobs.ts"), "default"),
    ...(examples ? [load(join(LIB, "local/examples.ts"), "exampleJobs")] : []),
    ...(jobsFile === undefined ? [] : [load(resolve(jobsFile), "default")]),
  ];
  const serve = JSON.stringify(join(LIB, "local/consumer/serve.ts"));
  try {
    await build({
      absWorkingDir: PROJECT,
      stdin: { contents: `import { serve } from ${serve};\nawait serve([${modules.join()}]);`, resolveDir: PROJECT },
      outfile: file,
      bundle: true,
      keepNames: true,
      format: "esm",
      platform: "node",
      target: "node20",
      sourcemap: "inline",
      mainFields: ["module", "main"],
      banner: { js: REQUIRE_BANNER },
      alias: OWN_PACKAGE,
      logLevel: "silent",
    });
    return { file, remove };
  } catch (error) {
    await remove();
    throw jobsFile === undefined ? error : unusableJobs(jobsFile, errorMessage(error), error);
  }
}

/** A jobs file that cannot be used, with the first line of why. */
export function unusableJobs(jobsFile: string, why: string, cause?: unknown): LocalEngineError {
  const [firstLine] = why
    .replace(/^Build failed with \d+ errors?:\n/, "")
    // A place in the text above is nothing to people: it is their file that is not there.
    .replace(/^<stdin>:\d+:\d+: ERROR: Could not resolve .*/, "there is no such file")
    .split("\n");
  return new LocalEngineError(
    `--jobs must be a module whose default export is a map of jobs, got ${jobsFile}: ${firstLine}`,
    { cause },
  );
}

/** An expression that loads an export of a module when it is called: what fails then can still be told. */
const load = (path: string, name: string): string =>
  `() => import(${JSON.stringify(path)}).then((module) => module.${name})`;
