import { execFile } from "node:child_process";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const BIN = fileURLToPath(new URL("../../bin/punctual.js", import.meta.url));
const REAL_WORLD = fileURLToPath(new URL("../cases/real-world.json", import.meta.url));

const punctual = (...args: readonly string[]) =>
  promisify(execFile)(process.execPath, [BIN, ...args], { cwd: tmpdir(), env: { PATH: process.env["PATH"] } });

it("runs from any directory, with no word of the SDK's on stderr", async () => {
  const { stdout, stderr } = await punctual("schedule", "validate", REAL_WORLD);
  expect({ stdout, stderr }).toEqual({ stdout: "30 schedules, no problem\n", stderr: "" });
});

it("ends with the exit code", async () => {
  await expect(punctual("schedule", "nonsense")).rejects.toMatchObject({ code: 2, stdout: "" });
  await expect(punctual("schedule", "next", "--cron", "nonsense")).rejects.toMatchObject({ code: 1, stdout: "" });
});
