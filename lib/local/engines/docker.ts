import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { LOOPBACK } from "./engine.ts";

/** AWS's image of DynamoDB Local ("Deploying DynamoDB locally on your computer", Docker). */
const IMAGE = "amazon/dynamodb-local";

/** Where the image listens. */
const CONTAINER_PORT = 8000;

const DATA_MOUNT = "/data";

/** Whether a Docker daemon answers. */
export async function dockerAnswers(env: NodeJS.ProcessEnv): Promise<boolean> {
  try {
    await promisify(execFile)("docker", ["version", "--format", "{{.Server.Version}}"], { env, timeout: 10_000 });
    return true;
  } catch {
    // Not installed, not running, or not ours to use: the caller says what to do about any of them.
    return false;
  }
}

/** The `docker run` that serves DynamoDB Local on loopback; it ends, container and all, on SIGTERM. `flags` end with `-port`. */
export function dockerCommand(
  port: number,
  dataDir: string | undefined,
  flags: readonly string[],
): { description: string; command: string; args: string[] } {
  const user = process.getuid && process.getgid ? ["--user", `${process.getuid()}:${process.getgid()}`] : [];
  const mount = dataDir === undefined ? [] : ["--volume", `${dataDir}:${DATA_MOUNT}`, ...user];
  const storage = dataDir === undefined ? ["-inMemory"] : ["-dbPath", DATA_MOUNT];
  const publish = `${LOOPBACK}:${port}:${CONTAINER_PORT}`;
  return {
    description: "DynamoDB Local (Docker)",
    command: "docker",
    args: [
      ...["run", "--rm", "--init", "--publish", publish, ...mount, IMAGE],
      ...["-jar", "DynamoDBLocal.jar", ...flags, String(CONTAINER_PORT), ...storage],
    ],
  };
}
