import { rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { LocalEngineError } from "../errors.ts";
import { temporaryDirectory } from "../temporary.ts";
import { type GuardedChild, spawnGuarded } from "./child.ts";
import { claimDataDir } from "./data-dir.ts";
import { dockerAnswers, dockerCommand } from "./docker.ts";
import { type Engine, LOOPBACK } from "./engine.ts";
import { findJava, JAVA_MAJOR_MIN } from "./java.ts";
import { claimPort, portError } from "./ports.ts";
import { answersHttp } from "./ready.ts";

/** Where and how DynamoDB Local runs. */
export interface DynamoDbOptions {
  /** The port to listen on; a free one when left out. */
  readonly port?: number | undefined;
  /** A directory that keeps the tables across restarts, created when missing; without it they live in memory. */
  readonly dataDir?: string | undefined;
  /** The environment in which Java and Docker are looked for. */
  readonly env?: NodeJS.ProcessEnv;
}

/** A start from nothing takes 2-4 s; a first `docker run` also fetches the image. */
const START_TIMEOUT_MS = { java: 30_000, docker: 180_000 };

/** A short-lived server gains nothing from the optimising compiler, and starts a third sooner without it. */
const JVM_FLAGS = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx512m"];

/** Jetty's message when it cannot listen; DynamoDB Local prints it and then idles without ever ending. */
const BIND_FAILURE = "Failed to bind";

interface Command {
  readonly kind: keyof typeof START_TIMEOUT_MS;
  readonly description: string;
  readonly command: string;
  readonly args: readonly string[];
}

/**
 * Starts DynamoDB Local with Java, or with Docker where there is no Java, and resolves once it answers.
 * It offers no choice of the address it listens on: under Java it listens on every interface, under Docker on loopback.
 * Throws {@link LocalEngineError} when the port is taken or the data directory is another engine's, when neither Java nor
 * Docker is there, or when it does not start.
 */
export async function startDynamoDb(options: DynamoDbOptions = {}): Promise<Engine> {
  const env = options.env ?? process.env;
  const port = await claimPort(options.port, "--dynamodb-port");
  const dataDir = options.dataDir === undefined ? undefined : resolve(options.dataDir);
  const { kind, description, command, args } = await chooseCommand(port, dataDir, env);
  const release = dataDir === undefined ? undefined : await claimDataDir(dataDir);
  // It leaves a file with an id of its own in its working directory.
  const cwd = dataDir ?? (await temporaryDirectory("dynamodb"));
  const child = spawnGuarded(command, args, { env, cwd });
  const close = async (): Promise<void> => {
    await child.close();
    if (release) await release();
    else await rm(cwd, { recursive: true, force: true });
  };
  const endpoint = `http://${LOOPBACK}:${port}`;
  try {
    await untilReady(child, endpoint, port, START_TIMEOUT_MS[kind]);
  } catch (error) {
    await close();
    throw error;
  }
  return { endpoint, description, close, ended: child.exited.then((code) => `${description} ended (${code})`) };
}

async function chooseCommand(port: number, dataDir: string | undefined, env: NodeJS.ProcessEnv): Promise<Command> {
  const java = await findJava(env);
  // sharedDb: otherwise each access key and region sees tables of its own, and the user's AWS CLI sees none of ours.
  const common = ["-sharedDb", "-disableTelemetry", "-port"];
  if (java.kind === "found") {
    const jarDir = join(dirname(createRequire(import.meta.url).resolve("amplify-dynamodb-simulator")), "emulator");
    const library = `-Djava.library.path=${join(jarDir, "DynamoDBLocal_lib")}`;
    const storage = dataDir === undefined ? ["-inMemory"] : ["-dbPath", dataDir];
    const args = [
      ...JVM_FLAGS,
      library,
      "-jar",
      join(jarDir, "DynamoDBLocal.jar"),
      ...common,
      String(port),
      ...storage,
    ];
    return { kind: "java", description: `DynamoDB Local (Java ${java.major})`, command: java.path, args };
  }
  if (await dockerAnswers(env)) return { kind: "docker", ...dockerCommand(port, dataDir, common) };
  const found = java.kind === "too-old" ? `Java ${java.major} is too old` : "there is no Java";
  throw new LocalEngineError(
    `DynamoDB Local needs Java ${JAVA_MAJOR_MIN} or Docker, and ${found} and no running Docker: install Java ${JAVA_MAJOR_MIN} ` +
      "(Debian: apt install openjdk-17-jre-headless, macOS: brew install openjdk@17), or pass --dynamodb-endpoint",
  );
}

async function untilReady(child: GuardedChild, endpoint: string, port: number, timeoutMs: number): Promise<void> {
  const probing = new AbortController();
  const timeout = setTimeout(() => probing.abort(), timeoutMs);
  const failedToBind = new Promise<"taken">((settle) => {
    child.onOutput((output) => {
      if (output.includes(BIND_FAILURE)) settle("taken");
    });
  });
  try {
    const ready = answersHttp(endpoint, probing.signal).then((answers) => (answers ? "ready" : "silent"));
    const outcome = await Promise.race([failedToBind, child.exited, ready]);
    if (outcome === "ready") return;
    if (outcome === "taken")
      throw portError(Object.assign(new Error(), { code: "EADDRINUSE" }), port, "--dynamodb-port");
    const what = outcome === "silent" ? `did not answer within ${timeoutMs / 1_000} s` : `ended at once (${outcome})`;
    throw new LocalEngineError(`DynamoDB Local ${what}: ${child.output().trim().split("\n").at(-1)}`);
  } finally {
    probing.abort();
    clearTimeout(timeout);
  }
}
