import { type Backoff, retryDelayMs } from "../../../core/retry.ts";
import type { Inbox } from "../../ports.ts";
import type { Runner } from "../run-occurrence.ts";
import { type Observer, type Tell, tellSafely, type WorkerReport } from "./events.ts";
import { Floor } from "./floor.ts";
import { Receipts } from "./receipts.ts";
import { WaitingLine } from "./waiting-line.ts";

/** The pauses after receives that failed, in a row. */
const RECEIVE_BACKOFF: Backoff = {
  baseDelaySeconds: 1,
  multiplier: 2,
  maxDelaySeconds: 30,
  jitter: true,
};

/** Receives that bring nothing follow each other no faster, however little SQS waits. */
const EMPTY_RECEIVE_MS = 1_000;

/** How a worker works. */
export interface WorkerSettings {
  /** Jobs that run side by side. */
  readonly concurrency: number;
  /** Messages received beyond those, to wait here. */
  readonly prefetch: number;
  /** For how long a receive hides messages; those that wait are hidden anew every quarter of it. */
  readonly visibilitySeconds: number;
  /** How long a receive waits for a first message. */
  readonly waitSeconds: number;
  readonly onEvent?: Observer;
  /** Called before each delivery is dealt with. Never rejects. */
  readonly freshen?: () => Promise<void>;
}

/**
 * Works off `inbox` until `drain` aborts: receives, runs each delivery as `runDelivery` does, reports, then acknowledges. After
 * `drain` nothing new is started and what waits is handed back; it resolves when all that ran has ended, which the runner's
 * `shutdown` hastens. A queue that fails is tried again, ever more slowly, and ends nothing.
 */
export async function runWorker(
  runner: Runner,
  inbox: Inbox,
  settings: WorkerSettings,
  drain: AbortSignal,
): Promise<WorkerReport> {
  const { host } = runner;
  const { logger } = runner.engine;
  const { concurrency, prefetch, visibilitySeconds, freshen = async () => undefined } = settings;
  const tell = tellSafely(settings.onEvent, logger);
  const receipts = new Receipts({ inbox, host, logger, tell });
  const line = new WaitingLine({ inbox, host, logger, tell, visibilitySeconds });
  const floor = new Floor({ runner, line, receipts, tell, concurrency, prefetch, freshen });
  const over = new AbortController();

  const close = () => floor.close("shutdown");
  if (drain.aborted) close();
  else drain.addEventListener("abort", close, { once: true });
  const hiding = line.keepHidden(over.signal, (messages) =>
    receipts.handBack(messages, 0, "SQS hides a message for twelve hours at most"),
  );
  const receiving = receiveAlways(runner, inbox, settings, floor, tell, over.signal);
  const report = await floor.ended();
  // Not before: what SQS gives to a receive that is gone stays hidden for a whole visibility timeout.
  over.abort();
  await Promise.all([receiving, hiding]);
  await receipts.settled();
  drain.removeEventListener("abort", close);
  tell({ kind: "stopped", report });
  return report;
}

async function receiveAlways(
  { engine, host }: Runner,
  inbox: Inbox,
  { visibilitySeconds, waitSeconds }: WorkerSettings,
  floor: Floor,
  tell: Tell,
  over: AbortSignal,
): Promise<void> {
  let failures = 0;
  for (let room = await floor.untilRoom(); room > 0; room = await floor.untilRoom()) {
    const askedAtMs = host.monotonicMs();
    const answer = await inbox.receive({ max: room, waitSeconds, visibilitySeconds, signal: over });
    if (answer.kind === "failed") {
      failures += 1;
      engine.logger.warn("nothing could be received; it is tried again", { failures, error: answer.error.message });
      tell({ kind: "error", doing: "receive", error: answer.error, messageIds: [] });
      await host.sleep(retryDelayMs(RECEIVE_BACKOFF, failures, engine.random()), over);
      continue;
    }
    failures = 0;
    floor.take(answer.messages);
    if (answer.messages.length === 0)
      await host.sleep(Math.max(0, askedAtMs + EMPTY_RECEIVE_MS - host.monotonicMs()), over);
  }
}
