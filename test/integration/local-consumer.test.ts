import { access, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createClosing } from "../../lib/local/closing.ts";
import { type ConsumerProcess, createConsumerProcess } from "../../lib/local/consumer/process.ts";
import { bundleConsumer } from "../../lib/local/consumer/program.ts";
import { startConsumers } from "../../lib/local/consumer/start.ts";
import type { LocalContext } from "../../lib/local/event-sources/lambda.ts";

async function fileWith(name: string, text: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "punctual-files-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  await writeFile(join(directory, name), text);
  return join(directory, name);
}

describe("a file of jobs", () => {
  it("may lie anywhere, and imports the very errors that the consumer knows", async () => {
    const jobsFile = await fileWith(
      "jobs.ts",
      `import { PermanentError } from "@punctual/aws/jobs";
       export default { "give-up": (payload: { why: string }) => { throw new PermanentError(payload.why); } };`,
    );
    const closing = createClosing();
    await expect(startConsumers({ examples: true, jobsFile }, () => {}, closing)).resolves.toBeTypeOf("function");
    await closing.close();
  });

  it.each([
    ["missing", undefined, "got /nowhere/jobs.ts: there is no such file"],
    ["no TypeScript", "export default {", "Expected identifier but found end of file"],
    ["without a default export", "export const jobs = {};", "its default export is undefined"],
    ["a map of something else", "export default { a: 1 };", "a is neither a function nor a schema with a handler"],
    ["broken at load", "throw new Error('no database');", "no database"],
    ["the end of its process", "process.exit(4);", "its process ended (exit code 4)"],
  ])("is refused in one line when it is %s", async (_, text, why) => {
    const jobsFile = text === undefined ? "/nowhere/jobs.ts" : await fileWith("jobs.ts", text);
    const closing = createClosing();
    const error = await startConsumers({ examples: false, jobsFile }, () => {}, closing).catch(String);
    await closing.close();
    expect(error).toContain("--jobs must be a module whose default export is a map of jobs, got ");
    expect(error).toContain(why);
    expect(error).not.toContain("\n");
  });

  it("is not tried any more where the start was given up meanwhile", async () => {
    const closing = createClosing();
    const printed: string[] = [];
    const starting = startConsumers({ examples: false }, (line) => printed.push(line), closing).catch(String);
    await closing.close();
    expect(await starting).toContain("the local engine was closed while it started");
    expect(printed).toEqual([]);
  });

  it("leaves nothing behind", async () => {
    const program = await bundleConsumer({ examples: false });
    await access(program.file);
    await program.remove();
    await expect(access(program.file)).rejects.toMatchObject({ code: "ENOENT" });
  });
});

/** Answers with its event, unless that tells it to do worse. */
const ECHO = `
  process.on("disconnect", () => process.exit(0));
  process.on("message", ({ event }) => {
    if (event === "exit") process.exit(3);
    if (event === "reject") Promise.reject(new Error("left behind"));
    else if (event === "block") for (;;);
    else { console.log("echo " + event); process.send({ kind: "answer", answer: event }); }
  });
  process.send({ kind: "ready" });`;

interface Echo {
  readonly consumer: ConsumerProcess;
  readonly lines: string[];
  invoke(event: string, remainingMs?: number): Promise<unknown>;
}

async function echo(): Promise<Echo> {
  const file = await fileWith("echo.mjs", ECHO);
  const lines: string[] = [];
  const endpoints = { dynamodb: "", sqs: "", eventbridge: "" };
  const program = { file, remove: async () => {} };
  const consumer = createConsumerProcess(program, { environment: {}, endpoints }, (line) => lines.push(line));
  onTestFinished(() => consumer.close());
  const context = (remainingMs: number): LocalContext => ({
    awsRequestId: "request",
    functionName: "consumer",
    functionVersion: "$LATEST",
    invokedFunctionArn: "arn",
    memoryLimitInMB: "512",
    logGroupName: "group",
    logStreamName: "stream",
    callbackWaitsForEmptyEventLoop: false,
    getRemainingTimeInMillis: () => remainingMs,
  });
  return { consumer, lines, invoke: (event, remainingMs = 60_000) => consumer.invoke(event, context(remainingMs)) };
}

describe("a consumer's process", () => {
  it("answers one invocation after the other, and what it writes is printed line by line", async () => {
    const { lines, invoke, consumer } = await echo();
    expect([await invoke("one"), await invoke("two")]).toEqual(["one", "two"]);
    await consumer.close();
    expect(lines).toEqual(["echo one", "echo two"]);
  });

  it.each([
    ["ends it", "exit", "its process ended (exit code 3)"],
    ["leaves a rejected promise", "reject", "its process ended (exit code 1)"],
    ["blocks it beyond the invocation's time", "block", "its process ended (SIGKILL)"],
  ])("is replaced for the next invocation when a job %s", async (_, event, why) => {
    const { invoke } = await echo();
    await expect(invoke(event, event === "block" ? 100 : 60_000)).rejects.toThrow(why);
    expect(await invoke("again")).toBe("again");
  });
});
