import { createHash } from "node:crypto";
import * as z from "zod";

/** How a worker's process is to work. */
const workerConfiguration = z.object({
  concurrency: z.number(),
  prefetch: z.number(),
  visibilityTimeoutSeconds: z.number(),
  graceSeconds: z.number(),
});
export type WorkerConfiguration = z.infer<typeof workerConfiguration>;

/** Which function or worker a process is, and all it is told before its first invocation. */
export const configuration = z.object({
  functionName: z.enum(["dispatcher", "consumer", "worker"]),
  /** A worker's own; a function has none. */
  worker: z.exactOptional(workerConfiguration),
  environment: z.record(z.string(), z.string()),
  timeoutSeconds: z.number(),
  dynamodbEndpoint: z.string(),
  sqsEndpoint: z.string(),
  /** How far this process's own wall clock is ahead of the machine's. */
  wallClockAheadMs: z.number(),
});
export type Configuration = z.infer<typeof configuration>;

/** What a test tells a function's process. */
export const command = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("invoke"), id: z.number(), event: z.unknown() }),
  /** Lets the job of an attempt that waits come to its end; with `heartbeat` it renews its lease before. */
  z.object({ kind: z.literal("finish"), attempt: z.string(), heartbeat: z.boolean() }),
]);
export type Command = z.infer<typeof command>;

const attempt = {
  scheduleId: z.string(),
  firing: z.string(),
  attempt: z.number(),
  fencingToken: z.number(),
};

/** What a function's process tells the test. */
export const report = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("answer"), id: z.number(), answer: z.unknown() }),
  z.object({ kind: z.literal("error"), id: z.number(), message: z.string() }),
  z.object({ kind: z.literal("started"), ...attempt }),
  z.object({ kind: z.literal("ended"), ...attempt, leaseLost: z.string().optional() }),
  /** What a worker told its observer. */
  z.object({ kind: z.literal("event"), event: z.looseObject({ kind: z.string() }) }),
  z.object({ kind: z.literal("log"), level: z.string(), message: z.string(), fields: z.unknown() }),
]);
export type Report = z.infer<typeof report>;

/** How a test names an attempt to the job that waits in it. */
export const attemptName = (of: { readonly scheduleId: string; readonly fencingToken: number }): string =>
  `${of.scheduleId}:${of.fencingToken}`;

/** Whether a flaky job fails in an attempt: one in five does, known to the test and the same in every process. */
export const failsByChance = (of: { readonly firing: string; readonly fencingToken: number }): boolean =>
  createHash("sha256").update(`${of.firing}:${of.fencingToken}`).digest().readUInt32BE() % 5 === 0;
