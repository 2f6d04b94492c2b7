import { mapBounded } from "../bounded.ts";
import { type Delivery, isSuspect, type OpenDelivery, openDelivery, runDelivery } from "./run-delivery.ts";
import { ABORT_GRACE_MS, type Runner } from "./run-occurrence.ts";

/** What must be left of an invocation beyond a job's timeout: its abort grace, the report, the answer to SQS. */
export const REPORT_MARGIN_MS = ABORT_GRACE_MS + 4_000;

/** What is left of the time for a batch, and how many runs may go on at once. */
export interface BatchLimits {
  readonly remainingMs: () => number;
  readonly concurrency: number;
}

/** `handBack`: the deliveries that must come again; every other is to be acknowledged. `abandoned`: a job that ignores its signal is still running. */
export interface BatchResult {
  readonly handBack: readonly string[];
  readonly abandoned: boolean;
}

/**
 * Runs a batch of messages: all side by side but the suspects, which run alone after the rest has reported, so that a job
 * that kills its process takes no neighbour along. Nothing starts that does not fit the remaining time, and what a slow
 * start has made too long for it is aborted in time to be reported.
 */
export async function runBatch(
  runner: Runner,
  deliveries: readonly Delivery[],
  limits: BatchLimits,
): Promise<BatchResult> {
  const done = new AbortController();
  const timeUp = new AbortController();
  const watch = abortInTime(runner, limits, timeUp, done.signal);
  const shutdown = runner.shutdown ? AbortSignal.any([runner.shutdown, timeUp.signal]) : timeUp.signal;
  try {
    return await runDeliveries({ ...runner, shutdown }, deliveries, limits);
  } finally {
    done.abort();
    await watch;
  }
}

/** Aborts `timeUp` when no more is left than a report needs: an invocation killed there costs all of its runs an attempt. */
async function abortInTime(
  { host }: Runner,
  { remainingMs }: BatchLimits,
  timeUp: AbortController,
  done: AbortSignal,
): Promise<void> {
  while (!done.aborted) {
    const leftMs = remainingMs() - REPORT_MARGIN_MS;
    if (leftMs > 0) await host.sleep(leftMs, done);
    else return timeUp.abort(new DOMException("the time of the runner's invocation is up", "TimeoutError"));
  }
}

async function runDeliveries(
  runner: Runner,
  deliveries: readonly Delivery[],
  limits: BatchLimits,
): Promise<BatchResult> {
  const handBack: string[] = [];
  let abandoned = false;
  const handle = async (opened: OpenDelivery): Promise<void> => {
    if (!fits(opened, limits)) {
      runner.engine.logger.info("a run does not fit what is left of this invocation", {
        messageId: opened.delivery.id,
      });
      handBack.push(opened.delivery.id);
      return;
    }
    const result = await runDelivery(runner, opened);
    if (result.kind === "hand-back") handBack.push(opened.delivery.id);
    else if ("abandoned" in result) abandoned ||= result.abandoned;
  };

  const opened = deliveries.map(openDelivery);
  const trusted = opened.filter((each) => !isSuspect(each));
  await mapBounded(trusted, limits.concurrency, handle);
  for (const suspect of opened.filter(isSuspect)) await handle(suspect);
  return { handBack, abandoned };
}

/** Whether what is left of the invocation is enough for the job's whole timeout and its report. */
const fits = (opened: OpenDelivery, { remainingMs }: BatchLimits): boolean =>
  opened.kind !== "attempt" || remainingMs() >= opened.message.timeoutSeconds * 1000 + REPORT_MARGIN_MS;
