import { errorMessage, formatProblems } from "../../core/errors.ts";
import { decodeMessage, type OccurrenceMessage } from "../../core/message.ts";
import { formatKey } from "../../core/occurrence.ts";
import { transition } from "../../core/transition.ts";
import { mapBounded } from "../bounded.ts";
import { DEAD_LETTER_QUEUE } from "../ports.ts";
import { ABORT_GRACE_MS, type Runner, type RunResult, runOccurrence } from "./run-occurrence.ts";
import { settleable, writeSettled } from "./settle.ts";

/** What must be left of an invocation beyond a job's timeout: its abort grace, the report, the answer to SQS. */
export const REPORT_MARGIN_MS = ABORT_GRACE_MS + 4_000;

/** A message as a queue delivered it. */
export interface Delivery {
  readonly id: string;
  readonly body: string;
}

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
  const handle = async ({ id, message }: Decoded): Promise<void> => {
    const fits = limits.remainingMs() >= message.timeoutSeconds * 1000 + REPORT_MARGIN_MS;
    if (!fits) {
      runner.engine.logger.info("a run does not fit what is left of this invocation", { key: formatKey(message) });
      handBack.push(id);
      return;
    }
    const result = await runOrHandBack(runner, message);
    if (result.kind === "hand-back") {
      runner.engine.logger.warn("a message could not be dealt with; it comes again", {
        key: formatKey(message),
        reason: result.reason,
      });
      handBack.push(id);
    } else if (result.kind !== "not-mine") abandoned ||= result.abandoned;
  };

  const decoded: Decoded[] = [];
  for (const delivery of deliveries) {
    const body = decodeMessage(delivery.body);
    if (body.kind === "malformed") {
      const setAsideNow = setAside(runner, delivery, formatProblems(body.problems));
      if (!(await doneOrLogged(runner, delivery, setAsideNow))) handBack.push(delivery.id);
    } else if (body.message.deadLetter) {
      const replayed = replayRedriven(runner, body.message);
      if (!(await doneOrLogged(runner, delivery, replayed))) handBack.push(delivery.id);
    } else decoded.push({ id: delivery.id, message: body.message });
  }
  const trusted = decoded.filter(({ message }) => !message.suspect);
  await mapBounded(trusted, limits.concurrency, handle);
  for (const suspect of decoded.filter(({ message }) => message.suspect)) await handle(suspect);
  return { handBack, abandoned };
}

/** One message's failure is its own: a store's clock that is lost meanwhile, say, must not take its neighbours' reports along. */
async function runOrHandBack(runner: Runner, message: OccurrenceMessage): Promise<RunResult> {
  try {
    return await runOccurrence(runner, message);
  } catch (error) {
    return { kind: "hand-back", reason: errorMessage(error) };
  }
}

/** Whether `work` has dealt with a delivery; its failure is its own. */
async function doneOrLogged({ engine }: Runner, { id }: Delivery, work: Promise<boolean>): Promise<boolean> {
  try {
    return await work;
  } catch (error) {
    engine.logger.warn("a message could not be dealt with; it comes again", {
      messageId: id,
      reason: errorMessage(error),
    });
    return false;
  }
}

interface Decoded {
  readonly id: string;
  readonly message: OccurrenceMessage;
}

/** A message nobody can read goes to the dead-letter queue as it is, with the reason. Answers whether it is safe there. */
async function setAside({ engine }: Runner, { id, body }: Delivery, problem: string): Promise<boolean> {
  engine.metrics.count("MalformedMessages");
  engine.logger.error("a message could not be read and is set aside in the dead-letter queue", {
    messageId: id,
    problem,
  });
  const [verdict] = await engine.queue.send([
    {
      queue: DEAD_LETTER_QUEUE,
      deduplicationId: `malformed:${id}`,
      body,
      attributes: { reason: "malformed-message", errorName: "MalformedMessage", errorMessage: problem },
    },
  ]);
  return verdict?.kind === "accepted";
}

/**
 * A dead letter's message that an operator redrove into the main queue is that dead letter's replay, once: the row's token
 * says whether it already was. Answers whether the message has done its work.
 */
async function replayRedriven({ engine }: Runner, message: OccurrenceMessage): Promise<boolean> {
  const key = { scheduleId: message.scheduleId, firing: message.firing };
  const [reading] = await engine.occurrences.read([key]);
  if (reading === undefined || reading.kind === "failed") return false;
  if (reading.kind === "missing" || reading.row.fencingToken !== message.fencingToken) return true;
  const next = transition(reading.row, { type: "replay" }, engine.clock.now(), engine.settings);
  if (next.kind === "refused") return true;
  const [verdict] = await writeSettled(engine, [settleable(key, next, ({ status }) => status === "PENDING")]);
  if (verdict?.kind === "applied") engine.logger.info("a redriven dead letter is replayed", { key: formatKey(key) });
  return verdict?.kind === "applied" || verdict?.kind === "refused";
}
