import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";
import { errorMessage } from "../core/errors.ts";
import type { Job, JobMap } from "../jobs/types.ts";
import { LocalEngineError } from "./errors.ts";

/** Where users' jobs import from. Left to this process's own copy: a job's errors must be the very classes that the consumer knows. */
const OWN_PACKAGE = { specifier: /^@punctual\/aws\/jobs$/, module: new URL("../jobs/index.ts", import.meta.url).href };

const keepOwnPackage: Plugin = {
  name: "keep-own-package",
  setup: ({ onResolve }) =>
    onResolve({ filter: OWN_PACKAGE.specifier }, () => ({ path: OWN_PACKAGE.module, external: true })),
};

/** Jobs may bring CommonJS packages, which call `require`; an ES module has none of its own. */
const REQUIRE_BANNER =
  'import { createRequire as punctualCreateRequire } from "node:module"; const require = punctualCreateRequire(import.meta.url);';

/**
 * The jobs that `file`, TypeScript or JavaScript, exports by default; it is bundled as for a deployment, so that it may lie
 * anywhere. Throws {@link LocalEngineError} for a file that is missing, does not compile, fails, or exports something else.
 */
export async function loadJobs(file: string): Promise<JobMap> {
  const directory = await mkdtemp(join(tmpdir(), "punctual-jobs-"));
  try {
    const outfile = join(directory, "jobs.mjs");
    await build({
      entryPoints: [resolve(file)],
      outfile,
      bundle: true,
      format: "esm",
      platform: "node",
      sourcemap: "inline",
      mainFields: ["module", "main"],
      banner: { js: REQUIRE_BANNER },
      plugins: [keepOwnPackage],
      logLevel: "silent",
    });
    const { default: jobs }: { default?: unknown } = await import(pathToFileURL(outfile).href);
    return checked(jobs);
  } catch (error) {
    const [firstLine] = errorMessage(error)
      .replace(/^Build failed with \d+ errors?:\n/, "")
      .split("\n");
    throw new LocalEngineError(
      `--jobs must be a module whose default export is a map of jobs, got ${file}: ${firstLine}`,
      { cause: error },
    );
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function checked(jobs: unknown): JobMap {
  if (typeof jobs !== "object" || jobs === null) throw new TypeError(`its default export is ${typeof jobs}`);
  const entries = Object.entries(jobs);
  const wrong = entries.find(([, job]) => !isJob(job));
  if (wrong) throw new TypeError(`${wrong[0]} is neither a function nor a schema with a handler`);
  return Object.fromEntries(entries.flatMap(([name, job]) => (isJob(job) ? [[name, job]] : [])));
}

const isJob = (job: unknown): job is Job =>
  typeof job === "function" ||
  (typeof job === "object" && job !== null && "schema" in job && "handler" in job && typeof job.handler === "function");
