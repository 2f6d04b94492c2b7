import { mkdir, readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";
import * as z from "zod";
import type { Patch } from "./patch.ts";
import type { Release } from "./platform/release.ts";
import { OTHER_RELEASE } from "./releases/other.ts";
import type { Simulation } from "./simulation.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
/** Beneath the project, so that a bundle finds the packages it imports. */
const DIRECTORY = path.join(ROOT, "node_modules", ".cache", "simulation");

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
  remembered("lib/runtime/env.ts", "environmentOf", "settings"),
  remembered("lib/runtime/env.ts", "readEnvironment", "env"),
  remembered("lib/runtime/create-engine.ts", "engineSettings", "deployed"),
  remembered("lib/adapters/dynamodb/stream-records.ts", "itemOf", "image", "constant"),
  remembered("lib/adapters/dynamodb/mapping.ts", "occurrenceFrom", "item", "constant"),
];

/** Has the function `name`, whose one parameter is `of`, answer from memory what it was asked before; `as`: how it is written down. */
function remembered(file: string, name: string, of: string, as: "function" | "constant" = "function"): Patch {
  const head = (called: string) => (as === "function" ? `function ${called}(${of}` : `const ${called} = (${of}`);
  return {
    file,
    find: head(name),
    replace:
      `${head(name)})${as === "function" ? "" : " =>"} {\n` +
      `  if (!${name}Known.has(${of})) ${name}Known.set(${of}, ${name}Anew(${of}));\n  return ${name}Known.get(${of});\n}\n` +
      `const ${name}Known = new WeakMap();\n${head(`${name}Anew`)}`,
  };
}

/**
 * A deployment checks the *default* catch-up window against its history. Simulated histories are shorter, so that something
 * expires while a world lasts, and there every definition says a window of its own, which is checked against them all the same.
 */
const SHORT_HISTORIES: Patch = {
  file: "lib/core/timing.ts",
  find: "catchupWindowSeconds: DEFAULT_MISFIRE.catchupWindowSeconds,",
  replace: "catchupWindowSeconds: 0,",
};

const simulationModule = z.object({ simulation: z.custom<Simulation>(isObject) });
const releaseModule = z.object({ THIS_RELEASE: z.custom<Release>(isObject) });

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

/**
 * Bundles the simulation with the production code it runs, `patches` applied, and loads it. `name` names the bundle's file.
 * Throws where a patch's text does not stand in its file exactly once.
 */
export async function loadSimulation(name: string, patches: readonly Patch[] = []): Promise<Simulation> {
  return simulationModule.parse(await load(name, "test/simulation/simulation.ts", patches)).simulation;
}

/** {@link loadSimulation}, with the other release at hand: the code with `patches` and those that make it one. */
export async function loadWithOtherRelease(name: string, patches: readonly Patch[] = []): Promise<Simulation> {
  const simulation = await loadSimulation(name, patches);
  const entry = "test/simulation/platform/release.ts";
  const loaded = await load(`${name}-other`, entry, [...patches, ...OTHER_RELEASE]);
  return simulation.beside({ ...releaseModule.parse(loaded).THIS_RELEASE, name: "other" });
}

async function load(name: string, entry: string, patches: readonly Patch[]): Promise<unknown> {
  await mkdir(DIRECTORY, { recursive: true });
  const outfile = path.join(DIRECTORY, `${name}-${process.pid}.mjs`);
  await build({
    absWorkingDir: ROOT,
    entryPoints: [entry],
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    packages: "external",
    sourcemap: "inline",
    logLevel: "silent",
    plugins: [patching([...REMEMBERED, SHORT_HISTORIES, ...patches])],
  });
  return import(`${pathToFileURL(outfile).href}?${name}`);
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
