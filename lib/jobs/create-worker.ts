import { hostname } from "node:os";
import type { WorkerReport } from "../app/engine/worker/events.ts";
import { runWorker } from "../app/engine/worker/run-worker.ts";
import { PunctualError } from "../core/errors.ts";
import { recordedError } from "../core/recorded-error.ts";
import { createDeployedInbox, createEngine, type DeployedEngine } from "../runtime/create-engine.ts";
import { deployed, executorOf } from "./execute.ts";
import { type WorkerOptions, workerPlan } from "./worker-options.ts";

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
 * Throws `InvalidEnvironmentError`, `InvalidTimingError` or `InvalidWorkerError`, the first of them that applies, with all that
 * is wrong of its kind.
 */
export function createWorker<Payloads extends Record<string, unknown>>(options: WorkerOptions<Payloads>): Worker {
  const engine = createEngine(options.env ?? process.env, "worker", options);
  const plan = workerPlan(engine.deployed, options);
  const jobs = deployed(options.jobs, engine);
  const inbox = createDeployedInbox(plan.queueUrl, options);
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
    const { concurrency, prefetch, visibilityTimeoutSeconds: visibilitySeconds, waitSeconds } = plan;
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
  const shutdown: Worker["shutdown"] = async ({ graceSeconds = plan.graceSeconds } = {}) => {
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

/**
 * The first signal shuts down and ends the process; a second one ends it at once. Also that one needs a listener: to the first
 * process of a container, which is where a worker often is, Linux delivers no signal that it has none for (pid_namespaces(7)).
 */
function endBySignals(
  { logger }: DeployedEngine,
  shutdown: Worker["shutdown"],
  ended: Promise<WorkerReport>,
  exit: (code: number) => void,
): void {
  let ending = false;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (ending) {
      logger.warn("a second signal ends this worker at once", { signal });
      exit(1);
      return;
    }
    ending = true;
    logger.info("a signal shuts this worker down", { signal });
    // It fails as `ended` does, which is dealt with below.
    shutdown().catch(() => undefined);
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  const end = (code: number | undefined): void => {
    for (const signal of SIGNALS) process.off(signal, onSignal);
    if (code !== undefined) exit(code);
  };
  ended.then(
    ({ reason, abandoned }) => end(ending || reason === "stuck" ? Number(abandoned.length > 0) : undefined),
    (error: unknown) => {
      logger.error("the worker failed", { error: recordedError(error) });
      end(1);
    },
  );
}
