import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

/**
 * Runs "$@" until it ends or standard input closes. The kernel closes that pipe however our process ends (Ctrl-C, SIGTERM,
 * an uncaught error, SIGKILL), so the child is never left behind. Only shell builtins: it must work with any PATH.
 */
const GUARD = `
exec 3<&0
"$@" </dev/null 3<&- & child=$!
(while read -r _ <&3; do :; done; kill "$child") 2>/dev/null & watcher=$!
wait "$child"; code=$?
kill "$watcher" 2>/dev/null
exit "$code"`;

/** How long a child may take to end after it was asked to, before it is killed. */
const END_TIMEOUT_MS = 5_000;

/** What a child wrote last is kept up to this many characters, to explain why it failed. */
const OUTPUT_KEPT_CHARACTERS = 8_192;

/** A child process that ends when this process does. */
export interface GuardedChild {
  /** Resolves with the exit code (or the signal's name) once it has ended. */
  readonly exited: Promise<number | string>;
  /** The last of what it wrote to standard output and error. */
  output(): string;
  /** Calls `listener` with {@link output} whenever the child has written something. */
  onOutput(listener: (output: string) => void): void;
  /** Asks it to end (SIGTERM), kills it when it does not, and resolves once it has ended. */
  close(): Promise<void>;
}

/**
 * Starts `command` in a process group of its own, so that Ctrl-C in the terminal reaches this process alone and the order of
 * the shutdown stays ours. Needs a POSIX `/bin/sh`.
 */
export function spawnGuarded(
  command: string,
  args: readonly string[],
  options: { cwd?: string; env: NodeJS.ProcessEnv },
): GuardedChild {
  const child = spawn("/bin/sh", ["-c", GUARD, "guard", command, ...args], { ...options, detached: true });
  const exited = exitOf(child);
  let kept = "";
  const listeners: ((output: string) => void)[] = [];
  const keep = (chunk: Buffer): void => {
    kept = (kept + chunk.toString("utf8")).slice(-OUTPUT_KEPT_CHARACTERS);
    for (const listener of listeners) listener(kept);
  };
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
  return {
    exited,
    output: () => kept,
    onOutput: (listener) => void listeners.push(listener),
    close: () => end(child, exited),
  };
}

async function exitOf(child: ChildProcess): Promise<number | string> {
  const [code, signal] = await once(child, "exit");
  return code ?? signal;
}

async function end(child: ChildProcess, exited: Promise<unknown>): Promise<void> {
  child.stdin?.destroy();
  const killer = setTimeout(() => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGKILL");
  }, END_TIMEOUT_MS);
  await exited;
  clearTimeout(killer);
}
