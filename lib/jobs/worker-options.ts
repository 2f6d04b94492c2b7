import type { Observer } from "../app/engine/worker/events.ts";
import { formatProblems, type Problem, PunctualError } from "../core/errors.ts";
import type { Overrides } from "../runtime/create-engine.ts";
import { DEFAULT_QUEUE, type Settings } from "../runtime/env.ts";
import type { JobsOf } from "./types.ts";

/** What a worker is told. All but `jobs` has a default; tables and queues come from the environment. */
export interface WorkerOptions<Payloads extends Record<string, unknown> = Record<string, unknown>> extends Overrides {
  /** The jobs by the names that schedules use, as `createConsumer` takes them. */
  readonly jobs: JobsOf<Payloads>;
  /** The name of the deployment's queue to receive from: `default`. */
  readonly queue?: string;
  /** The URL to reach that queue by, where the environment's is not the one: as through a proxy. */
  readonly queueUrl?: string;
  /** Jobs that run side by side: 10. */
  readonly concurrency?: number;
  /** Messages received beyond those, which wait here for a place: 0. Spares short jobs the wait for a receive, and keeps messages from idle workers. */
  readonly prefetch?: number;
  /** For how long a received message is hidden from other workers, and hidden anew while it waits here: 60. A running job needs none of it. */
  readonly visibilityTimeoutSeconds?: number;
  /** How long a receive waits for a first message: 20, the longest and cheapest. */
  readonly waitSeconds?: number;
  /** How long running attempts may go on after `shutdown`: 20, which leaves ECS's and Kubernetes' 30 s time for reports. */
  readonly graceSeconds?: number;
  /** Whether SIGTERM and SIGINT shut the worker down and then end the process: no. */
  readonly signals?: boolean;
  /** Told of everything that happens, and not waited for. What it throws or rejects with is logged and stops nothing. */
  readonly onEvent?: Observer;
  /** Where this process's logs are, for the rows of what it runs: host name and process id. */
  readonly logs?: string;
  /** The environment that names tables and queues: `process.env`. */
  readonly env?: NodeJS.ProcessEnv;
  /** Ends the process, where `signals` says so: `process.exit`. */
  readonly exit?: (code: number) => void;
}

/** Options of a worker that are wrong, every one of them. */
export class InvalidWorkerError extends PunctualError {
  constructor(problems: readonly Problem[]) {
    super("InvalidWorker", `the worker's options are not valid: ${formatProblems(problems)}`);
  }
}

/** The numbers that a worker works by, with what they may be. Long polls: at most 20 s (Amazon SQS API Reference, "ReceiveMessage"). */
const NUMBERS = {
  concurrency: { byDefault: 10, from: 1, to: 1_000 },
  prefetch: { byDefault: 0, from: 0, to: 1_000 },
  visibilityTimeoutSeconds: { byDefault: 60, from: 3, to: 3_600 },
  waitSeconds: { byDefault: 20, from: 1, to: 20 },
  graceSeconds: { byDefault: 20, from: 0, to: 43_200 },
} as const;
type NumberName = keyof typeof NUMBERS;

const isNumberName = (name: string): name is NumberName => name in NUMBERS;
const NUMBER_NAMES = Object.keys(NUMBERS).filter(isNumberName);

/** What a worker works by, its defaults filled in: its numbers, and the URL of its queue. */
export interface WorkerPlan extends Record<NumberName, number> {
  readonly queueUrl: string;
}

/**
 * Reads a worker's options. Throws {@link InvalidWorkerError} for numbers out of range, for a queue that needs no worker or is
 * none of the deployment's, and for a URL that is no FIFO queue's.
 */
export function workerPlan(
  { queues }: Pick<Settings, "queues">,
  options: Partial<Record<NumberName, number>> & Pick<WorkerOptions, "queue" | "queueUrl">,
): WorkerPlan {
  const numbers = (name: NumberName) => options[name] ?? NUMBERS[name].byDefault;
  const { queueUrl, problems: queueProblems } = queueOf(queues, options);
  const problems = [...NUMBER_NAMES.flatMap((name) => numberProblems(name, numbers(name))), ...queueProblems];
  if (problems.length > 0) throw new InvalidWorkerError(problems);
  return {
    concurrency: numbers("concurrency"),
    prefetch: numbers("prefetch"),
    visibilityTimeoutSeconds: numbers("visibilityTimeoutSeconds"),
    waitSeconds: numbers("waitSeconds"),
    graceSeconds: numbers("graceSeconds"),
    queueUrl,
  };
}

function numberProblems(name: NumberName, value: number): readonly Problem[] {
  const { from, to } = NUMBERS[name];
  const fits = Number.isInteger(value) && value >= from && value <= to;
  return fits ? [] : [{ path: name, message: `must be a whole number from ${from} to ${to}, got ${value}` }];
}

function queueOf(
  queues: Settings["queues"],
  { queue = DEFAULT_QUEUE, queueUrl }: Pick<WorkerOptions, "queue" | "queueUrl">,
): { readonly queueUrl: string; readonly problems: readonly Problem[] } {
  const found = Object.hasOwn(queues, queue) ? queues[queue] : undefined;
  const url = queueUrl ?? found?.url ?? "";
  const problems: Problem[] = [];
  if (found === undefined)
    problems.push({ path: "queue", message: `must be one of ${Object.keys(queues).join(", ")}, got ${queue}` });
  else if (found.completion === "enqueued") {
    const rule = "must be one whose runs are reported, not done once they are enqueued";
    problems.push({ path: "queue", message: `${rule}, got ${queue}` });
  }
  if (queueUrl !== undefined && !(URL.canParse(queueUrl) && queueUrl.endsWith(FIFO_SUFFIX)))
    problems.push({ path: "queueUrl", message: `must be a URL that ends with ${FIFO_SUFFIX}, got ${queueUrl}` });
  return { queueUrl: url, problems };
}

/** Names of FIFO queues end so (Amazon SQS API Reference, "CreateQueue"). */
const FIFO_SUFFIX = ".fifo";
