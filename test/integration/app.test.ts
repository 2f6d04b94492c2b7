import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { bundleFunctions } from "../../lib/construct/bundle.ts";
import { FUNCTION_NAMES } from "../../lib/runtime/names.ts";

const ROOT = join(import.meta.dirname, "../..");

const directory = (): string => {
  const path = mkdtempSync(join(tmpdir(), "punctual-app-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
};

/** Runs the CDK app as the CDK does, with `context`; the CDK's own validation of the template is left to `cdk synth`. */
async function runApp(context: Record<string, unknown>) {
  const outputDirectory = directory();
  const env = {
    ...process.env,
    CDK_OUTDIR: outputDirectory,
    CDK_CONTEXT_JSON: JSON.stringify(context),
    CDK_VALIDATION: "false",
  };
  const answer = await new Promise<{ exitCode: number; stderr: string }>((resolve) => {
    execFile(process.execPath, ["--import", "tsx", "bin/app.ts"], { cwd: ROOT, env }, (error, _, stderr) =>
      resolve({ exitCode: Number(error?.code ?? 0), stderr }),
    );
  });
  return { ...answer, outputDirectory };
}

test("the bundles of the real functions load, with the user's jobs and the package's own classes in the consumer", async () => {
  const jobsFile = join(directory(), "jobs.ts");
  writeFileSync(
    jobsFile,
    `import { PermanentError } from "@punctual/aws/jobs";
     export default { never: async () => { throw new PermanentError("the user's own words"); } };`,
  );
  const outputDirectory = join(ROOT, "dist", `test-${process.pid}`);
  onTestFinished(() => rmSync(outputDirectory, { recursive: true, force: true }));
  bundleFunctions({ outputDirectory, jobsFile });
  for (const name of FUNCTION_NAMES) {
    const file = join(outputDirectory, name, "index.mjs");
    const bundle: unknown = await import(pathToFileURL(file).href);
    expect(bundle).toMatchObject({ handler: expect.any(Function) });
  }
  const consumer = readFileSync(join(outputDirectory, "consumer/index.mjs"), "utf8");
  expect(consumer).toContain("the user's own words");
  // Once: a second copy of the class would make the consumer retry what the user's job says is permanent.
  expect(consumer.match(/"PermanentError"\)/g)).toHaveLength(1);
});

test("the app synthesizes the stack that its context asks for", async () => {
  const { exitCode, stderr, outputDirectory } = await runApp({ stack: "Staging", shards: "16" });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  const template: unknown = JSON.parse(readFileSync(join(outputDirectory, "Staging.template.json"), "utf8"));
  const { Outputs } = z.object({ Outputs: z.record(z.string(), z.unknown()) }).parse(template);
  expect(Object.keys(Outputs)).toContain("SchedulesTable");
  expect(JSON.stringify(template)).toContain('"PUNCTUAL_SHARDS":"16"');
});

test("a jobs file that is not there is said in one line", async () => {
  const { exitCode, stderr } = await runApp({ jobs: "/no/such/jobs.ts" });
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(/^jobs must be a readable .*, got \/no\/such\/jobs\.ts: ENOENT.*\n$/);
});
