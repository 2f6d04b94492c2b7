import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface, type Interface } from "node:readline";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { synthesizedTemplate } from "../../lib/local/template/synthesize.ts";
import { processesWith } from "../support/faults/system-processes.ts";

const PROJECT_DIR = fileURLToPath(new URL("../../", import.meta.url));

// Kept for the starts below, which would otherwise each do it within their own time.
beforeAll(async () => {
  await synthesizedTemplate(PROJECT_DIR, join(PROJECT_DIR, ".punctual"), new AbortController().signal);
});

interface Started {
  readonly process: ChildProcessWithoutNullStreams;
  readonly lines: string[];
  /** Resolves once there is a line that holds each of `parts`, from the start on. */
  line(...parts: string[]): Promise<string>;
  /** The exit code and standard error, once it has ended. */
  readonly ended: Promise<{ code: number; stderr: string }>;
}

/** `npm start` with `args`, on free ports unless they say otherwise, read line by line. */
function start(...args: string[]): Started {
  const all = ["bin/start.js", "--dynamodb-port", "0", "--sqs-port", "0", ...args];
  const child = spawn(process.execPath, all, { cwd: PROJECT_DIR });
  onTestFinished(() => void child.kill("SIGKILL"));
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk.toString("utf8");
  });
  const reading: Interface = createInterface(child.stdout);
  const lines: string[] = [];
  reading.on("line", (text) => lines.push(text));
  const line = async (...parts: string[]): Promise<string> => {
    const matches = (text: string): boolean => parts.every((part) => text.includes(part));
    for (;;) {
      const found = lines.find(matches);
      if (found !== undefined) return found;
      await once(reading, "line");
    }
  };
  const ended = once(child, "close").then(([code]) => ({ code: Number(code), stderr }));
  return { process: child, lines, line, ended };
}

async function refuses(endpoint: string): Promise<boolean> {
  const { hostname, port } = new URL(endpoint);
  const socket = connect(Number(port), hostname);
  const refused = await once(socket, "connect").then(
    () => false,
    () => true,
  );
  socket.destroy();
  return refused;
}

const endpointOf = (line: string): string => /http:\/\/\S+/.exec(line)?.[0] ?? "";

describe("npm start", () => {
  it("brings the examples to life, and ends cleanly on Ctrl-C", async () => {
    const { process: child, line, ended, lines } = start();
    await line("aws --region us-east-1 --endpoint-url http://127.0.0.1:", "dynamodb put-item --table-name Schedules");
    await Promise.all([
      line("SUCCEEDED", "example-heartbeat@"),
      line("RETRYING", "example-flaky@", "attempt 2/"),
      line("SUCCEEDED", "example-flaky@", "attempt 3/"),
      line("DEAD_LETTERED", "example-dead-letter@", "attempts-exhausted"),
      line("SUCCEEDED", "example-one-shot@"),
    ]);
    // Twice, as npm does: once from the terminal, once passed on.
    child.kill("SIGINT");
    child.kill("SIGINT");
    expect(await ended).toEqual({ code: 0, stderr: "" });
    expect(lines.at(-1)).toMatch(/^\d+ s: \d+ succeeded, 1 dead-lettered; median .* late, 99% within .*$/);
    for (const engine of ["DynamoDB", "SQS"])
      expect(await refuses(endpointOf(await line(`${engine} `, "http://")))).toBe(true);
    const { port } = new URL(endpointOf(await line("DynamoDB ", "http://")));
    expect(await processesWith(`-port ${port}`)).toEqual([]);
  });

  it("starts with the user's schedules and jobs, and ends by itself", async () => {
    const directory = await mkdtemp(join(tmpdir(), "punctual-start-"));
    onTestFinished(() => rm(directory, { recursive: true }));
    await writeFile(
      join(directory, "schedules.yaml"),
      "- {scheduleId: mine, rate: 1 second, job: greet, payload: Ada}\n",
    );
    await writeFile(
      join(directory, "jobs.ts"),
      `export default { greet: (name: string) => { console.log("hello " + name); } };\n`,
    );
    const files = ["--schedules", join(directory, "schedules.yaml"), "--jobs", join(directory, "jobs.ts")];
    const { line, ended, lines } = start("--no-examples", "--seconds", "8", ...files);
    await line("hello Ada");
    expect(await ended).toEqual({ code: 0, stderr: "" });
    expect(lines.at(-1)).toMatch(/^\d+ s: \d+ succeeded; /);
    expect(lines.join("\n")).not.toContain("example-");
  });

  it("says in one line what is in the way", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    onTestFinished(() => void server.close());
    await once(server, "listening");
    const address = server.address();
    const port = typeof address === "object" && address !== null ? String(address.port) : "";
    expect(await start("--dynamodb-port", port).ended).toEqual({
      code: 1,
      stderr: `port ${port} is in use: end what listens there, or choose another with --dynamodb-port\n`,
    });
  });

  it("says in one line that Node is too old", async () => {
    const older = "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.20.4' } });";
    const preload = `data:text/javascript,${encodeURIComponent(older)}`;
    const child = spawn(process.execPath, ["--import", preload, "bin/start.js"], { cwd: PROJECT_DIR });
    const [said] = await once(child.stderr, "data");
    expect(String(said)).toBe("Node must be 20 or newer, got 18.20.4\n");
    expect(await once(child, "exit")).toEqual([1, null]);
  });

  it("refuses a wrong command line", async () => {
    expect(await start("--seconds", "soon").ended).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("got soon"),
    });
  });
});
