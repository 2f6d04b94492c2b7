import type { SQSEvent } from "aws-lambda";
import { errorMessage } from "../../core/errors.ts";
import { type ConsumerHandler, createConsumer } from "../../jobs/create-consumer.ts";
import type { Job, JobMap } from "../../jobs/types.ts";
import { overridesFor } from "../overrides.ts";
import { type Configuration, configuration, type Invocation, invocation, type Said } from "./protocol.ts";

const say = (what: Said): void => void process.send?.(what);

/**
 * Runs a consumer in this process, which another one forked, with the jobs of `modules` (the later ones first): one
 * invocation at a time, as in one of Lambda's execution environments. It ends with the process that forked it.
 */
export async function serve(modules: readonly (() => Promise<unknown>)[]): Promise<void> {
  process.on("disconnect", () => process.exit(0));
  try {
    const maps: JobMap[] = [];
    for (const load of modules) maps.push(checked(await load()));
    const handler = consumerOf(Object.assign({}, ...maps), configuration.parse(JSON.parse(process.argv[2] ?? "")));
    process.on("message", (message) => void invoke(handler, invocation.parse(message)));
    say({ kind: "ready" });
  } catch (error) {
    say({ kind: "unusable", why: errorMessage(error) });
  }
}

function consumerOf(jobs: JobMap, { environment, endpoints }: Configuration): ConsumerHandler {
  const print = (line: string): void => void process.stdout.write(`${line}\n`);
  return createConsumer(jobs, { ...overridesFor("consumer", endpoints, print), env: environment });
}

async function invoke(handler: ConsumerHandler, { event, remainingMs, ...context }: Invocation): Promise<void> {
  const endsMs = performance.now() + remainingMs;
  const getRemainingTimeInMillis = (): number => Math.max(0, Math.floor(endsMs - performance.now()));
  try {
    if (!isQueueEvent(event)) throw new TypeError("a consumer's event must have records");
    say({ kind: "answer", answer: await handler(event, { ...context, getRemainingTimeInMillis }) });
  } catch (error) {
    say({ kind: "error", message: errorMessage(error) });
  }
}

const isQueueEvent = (event: unknown): event is SQSEvent =>
  typeof event === "object" && event !== null && "Records" in event && Array.isArray(event.Records);

function checked(jobs: unknown): JobMap {
  if (typeof jobs !== "object" || jobs === null) throw new TypeError(`its default export is ${typeof jobs}`);
  const entries = Object.entries(jobs);
  const wrong = entries.find(([, job]) => !isJob(job));
  if (wrong) throw new TypeError(`${wrong[0]} is neither a function nor a schema with a handler`);
  return Object.fromEntries(entries.flatMap(([name, job]) => (isJob(job) ? [[name, job]] : [])));
}

const isJob = (job: unknown): job is Job =>
  typeof job === "function" ||
  (typeof job === "object" && job !== null && "deploy" in job && typeof job.deploy === "function") ||
  (typeof job === "object" && job !== null && "schema" in job && "handler" in job && typeof job.handler === "function");
