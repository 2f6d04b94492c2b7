import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { promisify } from "node:util";

/** The ids of the processes whose command line holds `text`, this one's aside. From `/proc`, or where there is none from `ps`. */
export async function processesWith(text: string): Promise<readonly number[]> {
  const all = process.platform === "linux" ? await fromProc() : await fromPs();
  return all.filter(({ pid, line }) => pid !== process.pid && line.includes(text)).map(({ pid }) => pid);
}

interface CommandLine {
  readonly pid: number;
  readonly line: string;
}

async function fromProc(): Promise<CommandLine[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  // A process that has ended since then has no command line any more.
  const lines = await Promise.allSettled(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, "utf8")));
  return lines.flatMap((read, index) => {
    const pid = pids[index];
    return read.status === "fulfilled" && pid !== undefined ? [{ pid, line: read.value.replaceAll("\0", " ") }] : [];
  });
}

async function fromPs(): Promise<CommandLine[]> {
  const { stdout } = await promisify(execFile)("ps", ["-A", "-o", "pid=,args="]);
  return stdout.split("\n").flatMap((line) => {
    const [, pid, args] = /^\s*(\d+)\s+(.*)$/.exec(line) ?? [];
    return args === undefined ? [] : [{ pid: Number(pid), line: args }];
  });
}
