import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import type { Journal } from "./journal.ts";
import { attemptName, type Command, type Configuration, type Report, report } from "./protocol.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
/** Packages that are CommonJS call `require`; an ES module has none of its own. */
const REQUIRE_BANNER = `import { createRequire } from "node:module"; const require = createRequire(import.meta.url);`;

/** The program of every function's process, bundled with its packages: compiling and loading it all anew would cost each process two seconds. */
export interface FunctionProgram {
  readonly file: string;
  remove(): Promise<void>;
}

/** Bundles `function-process.ts` with the production code it runs. */
export async function bundleFunctionProgram(): Promise<FunctionProgram> {
  const directory = await mkdtemp(join(tmpdir(), "punctual-functions-"));
  const file = join(directory, "function-process.mjs");
  await build({
    absWorkingDir: ROOT,
    entryPoints: ["test/support/faults/function-process.ts"],
    outfile: file,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    mainFields: ["module", "main"],
    banner: { js: REQUIRE_BANNER },
    logLevel: "silent",
  });
  return { file, remove: () => rm(directory, { recursive: true }) };
}

/** A running function or worker. */
export interface FunctionProcess {
  /** Whether it has not ended. A stopped process has not. */
  readonly alive: boolean;
  /** Runs one invocation; rejects with what the handler threw, or when the process ends before it answers. */
  invoke(event: unknown): Promise<unknown>;
  /** Lets the waiting job of an attempt end; with `heartbeat` it renews its lease before. */
  finish(attempt: { scheduleId: string; fencingToken: number }, heartbeat?: boolean): Promise<void>;
  /** SIGKILL; resolves once it has ended. */
  kill(): Promise<void>;
  /** SIGTERM; resolves to its exit code once it has ended. */
  terminate(): Promise<number | null>;
  /** SIGSTOP: it stands still, between any two instructions, until {@link resume}. */
  stop(): void;
  /** SIGCONT. */
  resume(): void;
}

/** Starts a function in a process of its own, which ends when this one does; what it reports goes to `reports`. */
export function startFunctionProcess(
  { file }: FunctionProgram,
  configured: Configuration,
  reports: Journal<Report>,
): FunctionProcess {
  const child = fork(file, [JSON.stringify(configured)], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const exited = once(child, "exit");
  const answers = new Map<number, (answer: Extract<Report, { kind: "answer" | "error" }>) => void>();
  child.on("message", (message) => {
    const told = report.parse(message);
    if (told.kind === "answer" || told.kind === "error") answers.get(told.id)?.(told);
    else reports.add(told);
  });
  const tell = (command: Command): Promise<void> =>
    new Promise((sent, failed) => void child.send(command, (error) => (error ? failed(error) : sent())));
  let invocations = 0;
  return {
    get alive() {
      return isAlive(child);
    },
    invoke: async (event) => {
      const id = ++invocations;
      const answered = new Promise<Extract<Report, { kind: "answer" | "error" }>>((take) => answers.set(id, take));
      const told = tell({ kind: "invoke", id, event });
      const answer = await Promise.race([told.then(() => answered), exited.then(() => undefined)]);
      if (answer === undefined) throw new Error("the process ended before it answered");
      if (answer.kind === "error") throw new Error(answer.message);
      return answer.answer;
    },
    finish: (attempt, heartbeat = false) => tell({ kind: "finish", attempt: attemptName(attempt), heartbeat }),
    kill: async () => {
      child.kill("SIGKILL");
      await exited;
    },
    terminate: async () => {
      child.kill("SIGTERM");
      await exited;
      return child.exitCode;
    },
    stop: () => void child.kill("SIGSTOP"),
    resume: () => void child.kill("SIGCONT"),
  };
}

const isAlive = ({ exitCode, signalCode, connected }: ChildProcess): boolean =>
  connected && exitCode === null && signalCode === null;
