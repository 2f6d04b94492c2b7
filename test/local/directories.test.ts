import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { basename, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { claimDataDir } from "../../lib/local/engines/data-dir.ts";
import { LocalEngineError } from "../../lib/local/errors.ts";
import { temporaryDirectory } from "../../lib/local/temporary.ts";

async function emptyDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "punctual-test-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

/** The id of a process that has ended. */
const endedPid = (): number => spawnSync(process.execPath, ["--version"]).pid;

describe("a temporary directory", () => {
  it("takes the place of those that killed processes of this host left, and of no others", async () => {
    const parent = await emptyDirectory();
    const dead = endedPid();
    const kept = [
      `punctual-consumer-${hostname()}-${process.pid}-abc`,
      `punctual-consumer-elsewhere-${dead}-abc`,
      `punctual-dynamodb-${hostname()}-${dead}-abc`,
      "punctual-consumer-abc",
    ];
    for (const name of [...kept, `punctual-consumer-${hostname()}-${dead}-abc`])
      await mkdir(join(parent, name, "in"), { recursive: true });
    const made = await temporaryDirectory("consumer", parent);
    expect((await readdir(parent)).sort()).toEqual([...kept, basename(made)].sort());
  });
});

describe("a data directory", () => {
  it("is taken over from a process that died, and given back", async () => {
    const directory = await emptyDirectory();
    const claim = join(directory, "engine.pid");
    await writeFile(claim, String(endedPid()));
    const release = await claimDataDir(directory);
    expect(await readFile(claim, "utf8")).toBe(String(process.pid));
    await release();
    expect(await readdir(directory)).toEqual([]);
  });

  it.each(["file", "file/below"])("is refused in one sentence when it is a %s", async (name) => {
    const directory = await emptyDirectory();
    await writeFile(join(directory, "file"), "");
    const error = await claimDataDir(join(directory, name)).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(LocalEngineError);
    expect(String(error)).toContain(`--data-dir must be a directory to write to, got ${join(directory, name)}: `);
  });

  it("is refused while another process works on it", async () => {
    const directory = await emptyDirectory();
    await writeFile(join(directory, "engine.pid"), String(process.ppid));
    await expect(claimDataDir(directory)).rejects.toThrow(`got one of process ${process.ppid}`);
  });
});
