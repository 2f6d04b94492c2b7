import { mkdir, readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";
import * as z from "zod";
import type { Simulation } from "./simulation.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
/** Beneath the project, so that a bundle finds the packages it imports. */
const DIRECTORY = path.join(ROOT, "node_modules", ".cache", "simulation");

/** A change of one production file: the text to look for, which must stand there once, and what replaces it. */
export interface Patch {
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

/**
 * Pure functions that answer the same for the same objects, which nobody changes here: a process parses what it reads each time, and
 * a thousand simulated ones read the very same.
 */
const REMEMBERED: readonly Patch[] = [
  {
    file: "lib/core/schedule.ts",
    find: "export function parseSchedule(item",
    replace:
      "const parsedOf = new WeakMap();\nexport function parseSchedule(item, limits) {\n  const known = parsedOf.get(item);\n" +
      "  if (known?.limits === limits) return known.parsed;\n  const parsed = parseAnew(item, limits);\n" +
      "  parsedOf.set(item, { limits, parsed });\n  return parsed;\n}\nfunction parseAnew(item",
  },
  {
    file: "lib/runtime/env.ts",
    find: "export function readEnvironment(env",
    replace:
      "const settingsOfEnv = new WeakMap();\nexport function readEnvironment(env) {\n" +
      "  if (!settingsOfEnv.has(env)) settingsOfEnv.set(env, readAnew(env));\n  return settingsOfEnv.get(env);\n}\nfunction readAnew(env",
  },
  {
    file: "lib/runtime/create-engine.ts",
    find: "export function engineSettings(deployed",
    replace:
      "const settingsOfDeployed = new WeakMap();\nexport function engineSettings(deployed) {\n" +
      "  if (!settingsOfDeployed.has(deployed)) settingsOfDeployed.set(deployed, settingsAnew(deployed));\n" +
      "  return settingsOfDeployed.get(deployed);\n}\nfunction settingsAnew(deployed",
  },
];

const module = z.object({ simulation: z.custom<Simulation>((value) => typeof value === "object" && value !== null) });

/**
 * Bundles the simulation with the production code it runs, `patches` applied, and loads it. `name` names the bundle's file.
 * Throws where a patch's text does not stand in its file exactly once.
 */
export async function loadSimulation(name: string, patches: readonly Patch[] = []): Promise<Simulation> {
  await mkdir(DIRECTORY, { recursive: true });
  const outfile = path.join(DIRECTORY, `${name}-${process.pid}.mjs`);
  await build({
    absWorkingDir: ROOT,
    entryPoints: ["test/simulation/simulation.ts"],
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    packages: "external",
    sourcemap: "inline",
    logLevel: "silent",
    plugins: [patching([...REMEMBERED, ...patches])],
  });
  return module.parse(await import(`${pathToFileURL(outfile).href}?${name}`)).simulation;
}

function patching(patches: readonly Patch[]): Plugin {
  const files = [...new Set(patches.map(({ file }) => file))];
  const filter =
    files.length === 0 ? /^$/ : new RegExp(`(${files.map((file) => file.replaceAll(".", "\\.")).join("|")})$`);
  return {
    name: "patch",
    setup: (setup) => {
      setup.onLoad({ filter }, async ({ path: file }) => {
        const text = await readFile(file, "utf8");
        const relative = path.relative(ROOT, file);
        return { contents: patches.filter((patch) => patch.file === relative).reduce(applied, text), loader: "ts" };
      });
    },
  };
}

function applied(text: string, { file, find, replace }: Patch): string {
  const found = text.split(find).length - 1;
  if (found !== 1) throw new Error(`${file} must contain the text to replace once, got ${found}: ${find}`);
  return text.replace(find, () => replace);
}
