import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import type { Handler, LocalContext } from "../event-sources/lambda.ts";
import type { ConsumerProgram } from "./program.ts";
import { type Configuration, type Invocation, type Said, said } from "./protocol.ts";

/** An execution environment of the consumer. */
export interface ConsumerProcess extends Handler {
  /** Resolves once its jobs are loaded, or with why they cannot be. */
  loaded(): Promise<string | undefined>;
  close(): Promise<void>;
}

/** A process of the consumer, and the first thing it said. */
interface Started {
  readonly child: ChildProcess;
  readonly exited: Promise<string>;
  readonly first: Promise<Said | undefined>;
}

/**
 * An execution environment in a process of its own, as in Lambda: a job that blocks it, leaves a rejected promise or ends it
 * takes nothing else along. After such an end the next invocation starts it anew; one that outlives its time ends it.
 */
export function createConsumerProcess(
  { file }: ConsumerProgram,
  configured: Configuration,
  print: (line: string) => void,
): ConsumerProcess {
  let running: Started | undefined;
  const start = (): Started => {
    // In a process group of its own: Ctrl-C in the terminal reaches the scheduler alone, and the order of its end stays ours.
    const child = fork(file, [JSON.stringify(configured)], {
      stdio: ["ignore", "pipe", "pipe", "ipc"],
      detached: true,
    });
    printLines(child.stdout, print);
    printLines(child.stderr, print);
    const exited = once(child, "exit").then(([code, signal]) => {
      running = undefined;
      return `its process ended (${signal ?? `exit code ${code}`})`;
    });
    return { child, exited, first: nextOf(child, exited) };
  };
  const started = (): Started => {
    running ??= start();
    return running;
  };
  return {
    loaded: async () => {
      const { first, exited } = started();
      const told = await first;
      if (told === undefined) return exited;
      return told.kind === "unusable" ? told.why : undefined;
    },
    invoke: async (event, context) => {
      const { child, exited, first } = started();
      await first;
      const answered = nextOf(child, exited);
      const invocation = invocationOf(event, context);
      const timer = setTimeout(() => child.kill("SIGKILL"), invocation.remainingMs);
      try {
        if (child.connected) child.send(invocation);
        return answerOf((await answered) ?? { kind: "error", message: await exited });
      } finally {
        clearTimeout(timer);
      }
    },
    close: async () => {
      const closing = running;
      closing?.child.kill("SIGKILL");
      await closing?.exited;
    },
  };
}

/** The next thing it says; `undefined` when it ends before. */
const nextOf = (child: ChildProcess, exited: Promise<unknown>): Promise<Said | undefined> =>
  Promise.race([once(child, "message").then(([message]) => said.parse(message)), exited.then(() => undefined)]);

function answerOf(told: Said): unknown {
  if (told.kind === "answer") return told.answer;
  throw new Error(told.kind === "error" ? told.message : `it said ${told.kind}`);
}

const invocationOf = (event: unknown, context: LocalContext): Invocation => ({
  event,
  awsRequestId: context.awsRequestId,
  logGroupName: context.logGroupName,
  logStreamName: context.logStreamName,
  remainingMs: context.getRemainingTimeInMillis(),
});

function printLines(from: Readable | null, print: (line: string) => void): void {
  if (from) createInterface({ input: from }).on("line", print);
}
