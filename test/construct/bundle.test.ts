import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { bundleFunctions } from "../../lib/construct/bundle.ts";
import { InvalidDeploymentError } from "../../lib/construct/errors.ts";

const SOURCES = join(import.meta.dirname, "fixtures/functions");
const loaded = z.object({ handler: z.custom<() => Promise<unknown>>((value) => typeof value === "function") });

const directory = (): string => {
  const path = mkdtempSync(join(tmpdir(), "punctual-bundle-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
};

const jobsFile = (name: string, text: string): string => {
  const path = join(directory(), name);
  writeFileSync(path, text);
  return path;
};

const answerOf = async (output: string, name: string): Promise<unknown> => {
  const { handler } = loaded.parse(await import(pathToFileURL(join(output, name, "index.mjs")).href));
  return handler();
};

test("each function becomes one module that runs by itself", async () => {
  const functions = ["dispatcher", "reconciler", "notifier"] as const;
  const output = bundleFunctions({ sourceDirectory: SOURCES, outputDirectory: directory(), functions });
  expect(readdirSync(output).toSorted()).toEqual(functions.toSorted());
  for (const name of functions) {
    expect(readdirSync(join(output, name))).toEqual(["index.mjs"]);
    expect(await answerOf(output, name)).toBe(name);
  }
});

test("the consumer carries the jobs of the file it was given, and their CommonJS packages", async () => {
  const jobs = jobsFile(
    "jobs.ts",
    'import { EOL } from "./old.cjs";\nexport default { "send-invoice": async (): Promise<string> => EOL, second: 1 as const };',
  );
  writeFileSync(join(jobs, "../old.cjs"), 'const os = require("node:os"); exports.EOL = os.EOL;');
  const output = bundleFunctions({
    sourceDirectory: SOURCES,
    outputDirectory: directory(),
    functions: ["consumer"],
    jobsFile: jobs,
  });
  expect(await answerOf(output, "consumer")).toEqual(["send-invoice", "second"]);
});

test("a bundle is written over the one before", async () => {
  const sources = directory();
  const output = directory();
  for (const answer of ["old", "new"]) {
    writeFileSync(join(sources, "notifier.ts"), `export const handler = async () => "${answer}";`);
    bundleFunctions({ sourceDirectory: sources, outputDirectory: output, functions: ["notifier"] });
  }
  expect(readdirSync(output)).toEqual(["notifier"]);
  expect(await answerOf(output, "notifier")).toBe("new");
});

test.each([
  ["a file that does not exist", () => join(directory(), "none.ts"), /ENOENT/],
  ["a directory", () => directory(), /it is no file/],
  [
    "a file that does not compile",
    () => jobsFile("jobs.ts", "export default {"),
    /jobs\.ts:1: Expected identifier but found end of file/,
  ],
  [
    "a file without a default export",
    () => jobsFile("jobs.ts", "export const jobs = {};"),
    /No matching export in ".*jobs\.ts" for import "default"/,
  ],
  [
    "a file that imports what is not installed",
    () => jobsFile("jobs.ts", 'import nothing from "no-such-package-here"; export default { nothing };'),
    /jobs\.ts:1: Could not resolve "no-such-package-here"/,
  ],
])("refuses %s as jobs, in one line that names it", (_, file, why) => {
  const jobs = file();
  const bundle = () =>
    bundleFunctions({
      sourceDirectory: SOURCES,
      outputDirectory: directory(),
      functions: ["consumer"],
      jobsFile: jobs,
    });
  expect(bundle).toThrow(InvalidDeploymentError);
  expect(bundle).toThrow(
    /^jobs must be a readable TypeScript or JavaScript module whose default export is a map of jobs, got [^\n]*$/,
  );
  expect(bundle).toThrow(jobs);
  expect(bundle).toThrow(why);
});

test("a consumer that does not import its jobs by the agreed name is noticed", () => {
  const sources = directory();
  writeFileSync(join(sources, "consumer.ts"), "export const handler = async () => [];");
  expect(() =>
    bundleFunctions({
      sourceDirectory: sources,
      outputDirectory: directory(),
      functions: ["consumer"],
      jobsFile: jobsFile("jobs.ts", "export default {};"),
    }),
  ).toThrow(/consumer\.ts must import its jobs from "#jobs"/);
});

test("a bundle has one luxon, which cron-parser shares, and classes keep their names", async () => {
  const sources = directory();
  const root = join(import.meta.dirname, "../..");
  writeFileSync(
    join(sources, "dispatcher.ts"),
    `import { CronExpressionParser } from ${JSON.stringify(join(root, "node_modules/cron-parser/dist/index.js"))};
     import { DateTime } from ${JSON.stringify(join(root, "node_modules/luxon/build/es6/luxon.mjs"))};
     class VeryOwnError extends Error { constructor() { super(); this.name = new.target.name; } }
     export const handler = async () => [CronExpressionParser.parse("0 0 1 1 *").next().getTime() > 0, DateTime.isDateTime(DateTime.utc()), new VeryOwnError().name];`,
  );
  const output = bundleFunctions({ sourceDirectory: sources, outputDirectory: directory(), functions: ["dispatcher"] });
  const bundle = join(output, "dispatcher/index.mjs");
  expect(readFileSync(bundle, "utf8").match(/fromMillis requires a numerical input/g)).toHaveLength(1);
  expect(statSync(bundle).size).toBeLessThan(250_000);
  expect(await answerOf(output, "dispatcher")).toEqual([true, true, "VeryOwnError"]);
});
