import { accessSync, constants, mkdirSync, renameSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { type BuildOptions, type BuildResult, buildSync, type Message } from "esbuild";
import { errorMessage } from "../core/errors.ts";
import { FUNCTION_NAMES, type FunctionName } from "../runtime/names.ts";
import { InvalidDeploymentError } from "./errors.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** The specifier by which the consumer imports the deployment's jobs; `package.json` maps it to the stock ones. */
const JOBS_SPECIFIER = "#jobs";

/** What users' jobs import from, wherever their file lies: their errors must be the very classes that the consumer knows. */
export const OWN_PACKAGE = { "@punctual/aws/jobs": join(ROOT, "lib/jobs/index.ts") };

/** The Node 24 runtime has these (AWS Lambda Developer Guide, "Runtime-included SDK versions"). */
const IN_RUNTIME = ["@aws-sdk/*", "@smithy/*"];

/** The oldest Node that runs the bundles: a developer's machine. Lambda's Node 24 runs the same text. */
const TARGET = "node20";

/** Jobs may bring CommonJS packages, which call `require`; an ES module has none of its own. */
export const REQUIRE_BANNER =
  'import { createRequire as punctualCreateRequire } from "node:module"; const require = punctualCreateRequire(import.meta.url);';

/** What {@link bundleFunctions} bundles, and where to. Relative paths are from the working directory. */
export interface BundleOptions {
  /**
   * The module whose default export is the deployment's jobs.
   * @default - the stock jobs
   */
  readonly jobsFile?: string;
  /**
   * Where the entry files are.
   * @default - `functions/` of this package
   */
  readonly sourceDirectory?: string;
  /**
   * Where each function gets a directory with its `index.mjs`.
   * @default - `dist/functions/` of this package
   */
  readonly outputDirectory?: string;
  /**
   * @default - all of them
   */
  readonly functions?: readonly FunctionName[];
}

/**
 * Bundles each function into one minified ES module, `<outputDirectory>/<name>/index.mjs`, and answers the output
 * directory. Synchronous, since constructs are. Throws {@link InvalidDeploymentError}, in one line, for a jobs file that
 * is missing, unreadable or does not compile.
 */
export function bundleFunctions(options: BundleOptions = {}): string {
  const { functions = FUNCTION_NAMES } = options;
  const sourceDirectory = resolve(options.sourceDirectory ?? join(ROOT, "functions"));
  const outputDirectory = resolve(options.outputDirectory ?? join(ROOT, "dist/functions"));
  const jobsFile = options.jobsFile === undefined ? undefined : readableJobsFile(options.jobsFile);
  for (const name of functions) {
    const entry = join(sourceDirectory, `${name}.ts`);
    const { text, inputs } = build(entry, name === "consumer" ? jobsFile : undefined);
    if (name === "consumer" && jobsFile !== undefined && !inputs.includes(jobsFile))
      throw new InvalidDeploymentError(
        `${entry} must import its jobs from "${JOBS_SPECIFIER}", got a bundle without ${jobsFile}`,
      );
    writeWhole(join(outputDirectory, name, "index.mjs"), text, join(outputDirectory, `.${name}-${process.pid}`));
  }
  return outputDirectory;
}

/** By a rename, so that whoever synthesizes at the same time reads one whole file or the other. */
function writeWhole(file: string, text: Uint8Array, draft: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(draft, text);
  renameSync(draft, file);
}

function readableJobsFile(file: string): string {
  const path = resolve(file);
  try {
    accessSync(path, constants.R_OK);
  } catch (cause) {
    throw unusable(file, errorMessage(cause), cause);
  }
  if (!statSync(path).isFile()) throw unusable(file, "it is no file");
  return path;
}

const unusable = (file: string, why: string, cause?: unknown): InvalidDeploymentError =>
  new InvalidDeploymentError(
    `jobs must be a readable TypeScript or JavaScript module whose default export is a map of jobs, got ${file}: ${why}`,
    { cause },
  );

/** Bundles one entry; answers the module's text and the absolute paths of all that went into it. */
function build(
  entry: string,
  jobsFile: string | undefined,
): { readonly text: Uint8Array; readonly inputs: readonly string[] } {
  const options = {
    ...OPTIONS,
    entryPoints: [entry],
    ...(jobsFile !== undefined && {
      alias: { ...OPTIONS.alias, ...OWN_PACKAGE, [JOBS_SPECIFIER]: jobsFile },
      banner: { js: REQUIRE_BANNER },
    }),
  } satisfies BuildOptions;
  try {
    const { metafile, outputFiles } = buildSync(options);
    const text = Buffer.concat(outputFiles.map(({ contents }) => contents));
    return { text, inputs: Object.keys(metafile.inputs).map((input) => resolve(ROOT, input)) };
  } catch (failure) {
    const first = buildErrors(failure)[0];
    if (first === undefined) throw failure;
    const where = first.location === null ? relative(ROOT, entry) : `${first.location.file}:${first.location.line}`;
    const why = `${where}: ${first.text}`;
    throw jobsFile !== undefined
      ? unusable(jobsFile, why, failure)
      : new InvalidDeploymentError(`${relative(ROOT, entry)} must compile, got ${why}`, { cause: failure });
  }
}

const OPTIONS = {
  absWorkingDir: ROOT,
  bundle: true,
  minify: true,
  // Errors carry their class's name into rows and logs.
  keepNames: true,
  format: "esm",
  platform: "node",
  target: TARGET,
  mainFields: ["module", "main"],
  external: IN_RUNTIME,
  // cron-parser requires luxon and would bring a second copy, whose classes are not ours.
  alias: { luxon: join(dirname(createRequire(import.meta.url).resolve("luxon")), "../es6/luxon.mjs") },
  legalComments: "none",
  logLevel: "silent",
  metafile: true,
  write: false,
} as const satisfies BuildOptions;

/** What esbuild found wrong, if that is why it threw (esbuild API, "BuildFailure"). */
function buildErrors(failure: unknown): readonly Message[] {
  return isBuildFailure(failure) ? failure.errors : [];
}

const isBuildFailure = (failure: unknown): failure is Pick<BuildResult, "errors"> =>
  failure instanceof Error && "errors" in failure && Array.isArray(failure.errors);

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [jobsFile] = process.argv.slice(2);
  process.stdout.write(`${bundleFunctions({ ...(jobsFile !== undefined && { jobsFile }) })}\n`);
}
