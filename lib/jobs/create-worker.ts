import { hostname } from "node:os";
import type { WorkerReport } from "../app/engine/worker/events.ts";
import { runWorker } from "../app/engine/worker/run-worker.ts";
import { PunctualError } from "../core/errors.ts";
import { createDeployedInbox, createEngine, type DeployedEngine } from "../runtime/create-engine.ts";
import { deployed, executorOf } from "./execute.ts";
import { queueUrlOf, type WorkerOptions, workerNumbers } from "./worker-options.ts";

/** How often the numbers of a worker that has grown quiet are written: alarms look at whole minutes. */
const METRICS_EVERY_MS = 30_000;

/** The signals by which containers and people end processes. */
const SIGNALS = ["SIGTERM", "SIGINT"] as const;

/** A long-polling worker. */
export interface Worker extends AsyncDisposable {
  /** Begins to receive. Throws where it was begun before: a worker that has ended is not begun again. */
  start(): void;
  /** Resolves when the worker has come to its end, by {@link shutdown} or because jobs that ignore their signals hold all its places. */
  readonly ended: Promise<WorkerReport>;
  /**
   * Takes nothing new, hands back what was not started, lets running attempts finish for `graceSeconds`, and then aborts
   * their signals: each is tried again elsewhere. Resolves when all is reported. A job that ignores its signal is left
   * running and named in the answer; end the process then. Called again, the shortest grace counts.
   */
  shutdown(options?: { readonly graceSeconds?: number }): Promise<WorkerReport>;
}

/**
 * Makes a worker that runs `jobs` in a process of its own, as a container's, by the very protocol of the consumer function:
 * start, run and renew, report, acknowledge. A queue or a store that cannot be reached is tried again and ends nothing.
 * Throws `InvalidEnvironmentError`, `InvalidTimingError` and `InvalidWorkerError`, each with all that is wrong.
 */
export function createWorker<Payloads extends Record<string, unknown>>(options: WorkerOptions<Payloads>): Worker {
  const numbers = workerNumbers(options);
  const engine = createEngine(options.env ?? process.env, "worker", options);
  const jobs = deployed(options.jobs, engine);
  const inbox = createDeployedInbox(queueUrlOf(engine.deployed, options), options);
  const drain = new AbortController();
  const abort = new AbortController();
  let settle: (report: WorkerReport | Promise<WorkerReport>) => void = () => undefined;
  const ended = new Promise<WorkerReport>((resolve) => {
    settle = resolve;
  });
  let started = false;

  const run = async (): Promise<WorkerReport> => {
    const over = new AbortController();
    const flushing = flushNowAndThen(engine, over.signal);
    const runner = {
      engine,
      host: engine.host,
      execute: executorOf(jobs, engine.logger),
      logs: options.logs ?? `${hostname()} process ${process.pid}`,
      shutdown: abort.signal,
    };
    const { concurrency, prefetch, visibilityTimeoutSeconds: visibilitySeconds, waitSeconds } = numbers;
    const settings = { concurrency, prefetch, visibilitySeconds, waitSeconds, freshen: () => engine.clock.probe() };
    try {
      return await runWorker(
        runner,
        inbox,
        { ...settings, ...(options.onEvent && { onEvent: options.onEvent }) },
        drain.signal,
      );
    } finally {
      over.abort();
      await flushing;
      engine.metrics.flush();
    }
  };
  const shutdown: Worker["shutdown"] = async ({ graceSeconds = numbers.graceSeconds } = {}) => {
    drain.abort();
    if (!started) {
      started = true;
      settle({ reason: "shutdown", abandoned: [] });
    }
    const over = new AbortController();
    const grace = engine.host.sleep(graceSeconds * 1000, over.signal).then(() => {
      if (!over.signal.aborted) abort.abort(new DOMException("the worker is shutting down", "AbortError"));
    });
    return ended.finally(() => {
      over.abort();
      return grace;
    });
  };
  return {
    ended,
    shutdown,
    start: () => {
      if (started) throw new PunctualError("WorkerStarted", "a worker can be started once only");
      started = true;
      settle(run());
      if (options.signals) endBySignals(engine, shutdown, ended, options.exit ?? process.exit);
    },
    [Symbol.asyncDispose]: async () => {
      await shutdown();
    },
  };
}

async function flushNowAndThen({ host, metrics }: DeployedEngine, over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    await host.sleep(METRICS_EVERY_MS, over);
    metrics.flush();
  }
}

/** The first signal shuts down and ends the process; a second one finds Node's own answer, which ends it at once. */
function endBySignals(
  { logger }: DeployedEngine,
  shutdown: Worker["shutdown"],
  ended: Promise<WorkerReport>,
  exit: (code: number) => void,
): void {
  let ending = false;
  const onSignal = (signal: NodeJS.Signals): void => {
    ending = true;
    forget();
    logger.info("a signal shuts this worker down", { signal });
    void shutdown();
  };
  const forget = (): void => {
    for (const signal of SIGNALS) process.off(signal, onSignal);
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  ended.then(
    ({ reason, abandoned }) => {
      forget();
      if (ending || reason === "stuck") exit(abandoned.length > 0 ? 1 : 0);
    },
    () => exit(1),
  );
}
