import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import * as z from "zod";
import { FUNCTION_NAMES } from "../../runtime/names.ts";
import { isNamed, LocalEngineError } from "../errors.ts";
import { parseTemplate, type Template } from "./document.ts";

/** What the template follows from, relative to the project: when none is newer than the template, that one is used again. */
const SOURCES = ["bin", "lib/construct", "lib/core", "lib/runtime", "cdk.json", "package-lock.json"];

/** A synthesis takes 3-5 s on an idle machine. */
const SYNTHESIS_TIMEOUT_MS = 180_000;

const TEMPLATE_SUFFIX = ".template.json";

const cdkJson = z.object({ context: z.record(z.string(), z.unknown()).default({}) });

/**
 * The template of the CDK app of the project in `projectDir`, which is what `cdk deploy` would send, kept in `cacheDir` from
 * one start to the next; `signal` ends the synthesis; with the queues of `queuesFile`, where one is given. Throws {@link LocalEngineError} with the app's own words when it cannot be synthesized.
 */
export async function synthesizedTemplate(
  projectDir: string,
  cacheDir: string,
  signal: AbortSignal,
  queuesFile?: string,
): Promise<Template> {
  const queues = queuesFile === undefined ? undefined : resolve(queuesFile);
  // Not kept: next time it may be another file.
  const kept = join(cacheDir, queues === undefined ? "template.json" : `template-${process.pid}.json`);
  const sources = await Promise.all(SOURCES.map((source) => newestChangeMs(join(projectDir, source))));
  if (queues !== undefined || (await newestChangeMs(kept)) <= Math.max(...sources))
    await synthesize(projectDir, cacheDir, kept, signal, queues === undefined ? {} : { queues });
  const text = await readFile(kept, "utf8");
  if (queues !== undefined) await rm(kept, { force: true });
  return parseTemplate(JSON.parse(text));
}

async function synthesize(
  projectDir: string,
  cacheDir: string,
  target: string,
  signal: AbortSignal,
  settings: Readonly<Record<string, string>>,
): Promise<void> {
  await mkdir(cacheDir, { recursive: true });
  const workDir = await mkdtemp(join(cacheDir, "synthesis-"));
  try {
    // The functions run from their sources here: their bundles only have to be there.
    const bundles = join(workDir, "bundles");
    await Promise.all(FUNCTION_NAMES.map((name) => mkdir(join(bundles, name), { recursive: true })));
    const outputDir = join(workDir, "out");
    const { context } = cdkJson.parse(JSON.parse(await readFile(join(projectDir, "cdk.json"), "utf8")));
    await runApp(projectDir, outputDir, { ...context, ...settings, bundles }, signal);
    const templates = (await readdir(outputDir)).filter((name) => name.endsWith(TEMPLATE_SUFFIX));
    const [template] = templates;
    if (template === undefined || templates.length > 1)
      throw new LocalEngineError(`bin/app.ts must define one stack, got ${templates.length}`);
    await rename(join(outputDir, template), target);
  } finally {
    await rm(workDir, { recursive: true, force: true });
  }
}

/** Runs the app as the CDK's command line does (AWS CDK, `cx-api`: CDK_OUTDIR and CDK_CONTEXT_JSON), in a process of its own: it takes 400 MB. */
async function runApp(
  projectDir: string,
  outputDir: string,
  context: Record<string, unknown>,
  signal: AbortSignal,
): Promise<void> {
  const env = {
    ...process.env,
    CDK_OUTDIR: outputDir,
    CDK_CONTEXT_JSON: JSON.stringify(context),
    // Validating the template against CloudFormation's schemas takes most of a synthesis, and `cdk synth` does it anyway.
    CDK_VALIDATION: "false",
  };
  try {
    await promisify(execFile)(process.execPath, ["--import", "tsx", join("bin", "app.ts")], {
      cwd: projectDir,
      env,
      timeout: SYNTHESIS_TIMEOUT_MS,
      signal,
    });
  } catch (error) {
    const said = error instanceof Error && "stderr" in error ? String(error.stderr).trim() : "";
    throw new LocalEngineError(`the CDK app cannot be synthesized: ${said || String(error)}`, { cause: error });
  }
}

/** When a file, or anything below a directory, was last changed, in epoch ms; negative infinity when it does not exist. */
async function newestChangeMs(path: string): Promise<number> {
  try {
    const found = await stat(path);
    if (!found.isDirectory()) return found.mtimeMs;
    const below = await readdir(path, { recursive: true });
    const changes = await Promise.all(below.map(async (name) => (await stat(join(path, name))).mtimeMs));
    return Math.max(found.mtimeMs, ...changes);
  } catch (error) {
    if (isNamed(error, "ENOENT")) return Number.NEGATIVE_INFINITY;
    throw error;
  }
}
