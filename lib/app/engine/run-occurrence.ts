import { errorMessage } from "../../core/errors.ts";
import { fromIso, type Instant, plusMs } from "../../core/instant.ts";
import type { OccurrenceMessage } from "../../core/message.ts";
import { formatKey, type Occurrence, type RecordedError } from "../../core/occurrence.ts";
import { startTransition } from "../../core/transition.ts";
import type { Host } from "../ports.ts";
import type { Engine } from "./engine.ts";
import { LeaseKeeper } from "./lease-keeper.ts";
import { elapsedMs, type Moment, momentOf } from "./moment.ts";
import { report, standDown } from "./report.ts";
import { timeOnceKnown, writeUntilDecided } from "./settle.ts";
import { letNextRun } from "./turns.ts";

/** How long a job whose signal aborted is given to come to an end before it is left behind. */
export const ABORT_GRACE_MS = 1_000;

/** What running a job came to. */
export type Execution =
  | { readonly kind: "succeeded"; readonly output?: string }
  | {
      readonly kind: "failed";
      readonly error: RecordedError;
      readonly permanent: boolean;
      readonly retryAfterSeconds?: number;
    };

/** One attempt as whatever executes the job sees it. */
export interface Attempt {
  readonly row: Occurrence;
  /** When the job's `timeoutSeconds` are over, by the store's clock. */
  readonly deadline: Instant;
  /** Aborts at the deadline, when the lease is lost or the run cancelled, and on shutdown. */
  readonly signal: AbortSignal;
  leaseUntil(): Instant;
  /** Renews the lease now; rejects where it is lost. */
  heartbeat(): Promise<void>;
}

/** Runs the job of an attempt. It never rejects: whatever the job throws is an {@link Execution}. */
export type Execute = (attempt: Attempt) => Promise<Execution>;

/** A runner: the engine, the host it runs on, what executes jobs, and where their logs go. */
export interface Runner {
  readonly engine: Engine;
  readonly host: Host;
  readonly execute: Execute;
  readonly logs?: string;
  /** Aborts when the runner must end: running attempts are aborted as retryable. */
  readonly shutdown?: AbortSignal;
}

/** What became of a message. Everything but `hand-back` is to be acknowledged. */
export type RunResult =
  | { readonly kind: "reported"; readonly outcome: Execution["kind"]; readonly abandoned: boolean }
  /** The message meets no row that waits for it: a redelivery, or its attempt is history. */
  | { readonly kind: "not-mine" }
  /** The report changed nothing: another attempt, a cancel or the clock was faster. */
  | { readonly kind: "stale"; readonly abandoned: boolean }
  /** The report could not be delivered while the lease held, or before the runner's end: the lease decides. */
  | { readonly kind: "unreported"; readonly abandoned: boolean }
  /** Nothing was started: let the queue deliver the message again. */
  | { readonly kind: "hand-back"; readonly reason: string };

/**
 * Runs the attempt a message stands for: start (the gate), execute, then report, in that order; acknowledging is the
 * caller's, and comes last. A crash anywhere leaves a row whose own `dueAt` recovers it.
 */
export async function runOccurrence(runner: Runner, message: OccurrenceMessage): Promise<RunResult> {
  if (runner.shutdown?.aborted) return { kind: "hand-back", reason: "the runner is shutting down" };
  const owner = runner.engine.newNonce();
  const started = await start(runner, message, owner);
  if (started.kind !== "started") return started;
  const { row, at, sentAt } = started;
  const keeper = new LeaseKeeper(runner.engine, runner.host, row, owner, sentAt);
  if (!keeper.holds()) {
    runner.engine.logger.warn("a start was answered too late to act on it", { key: formatKey(row) });
    return { kind: "stale", abandoned: false };
  }
  const { metrics } = runner.engine;
  // From here on the store's time may be unknown, as after a freeze: what runs needs it no more than it must.
  const now = plusMs(at, elapsedMs(runner.host, sentAt));
  metrics.count("Starts");
  if (row.kind === "scheduled" && row.attempts === 1)
    metrics.record("StartLatenessMs", now - row.scheduledFor, row.scheduleId);
  const renewals = keeper.run();
  try {
    return await executeAndReport(runner, keeper, row, owner, plusMs(now, row.timeoutSeconds * 1000));
  } finally {
    keeper.stop();
    await renewals;
  }
}

/** Renewals go on until the report is in: a slow store must not cost the lease of work that is done. */
async function executeAndReport(
  runner: Runner,
  keeper: LeaseKeeper,
  row: Occurrence,
  owner: string,
  deadline: Instant,
): Promise<RunResult> {
  const { engine, host } = runner;
  const startedMs = host.monotonicMs();
  const { execution, abandoned } = await executeWithin(runner, keeper, row, deadline);
  engine.metrics.record("RunDurationMs", host.monotonicMs() - startedMs, row.scheduleId);
  const reported = keeper.lost.aborted ? "stale" : await report(runner, keeper, row, owner, execution);
  keeper.stop();
  const fields = { key: formatKey(row), token: row.fencingToken };
  if (reported === "stale") {
    engine.metrics.count("StaleReports");
    const stoodDown = !abandoned && keeper.runsOn() && (await standDown(runner, row, owner, execution));
    if (stoodDown) engine.logger.info("the job of a cancelled run has stopped", fields);
    else engine.logger.warn("a report came too late and changed nothing", fields);
    return { kind: "stale", abandoned };
  }
  if (reported === "unreported") {
    engine.logger.error("a report could not be delivered: the lease decides", { ...fields, outcome: execution.kind });
    return { kind: "unreported", abandoned };
  }
  await letNextRun(engine, [reported]);
  return { kind: "reported", outcome: execution.kind, abandoned };
}

type Started =
  /** `at` and `sentAt`: when it was first sent, by the store's clock and by the host's. The lease counts from there, however long its answer took. */
  | { readonly kind: "started"; readonly row: Occurrence; readonly at: Instant; readonly sentAt: Moment }
  | Extract<RunResult, { kind: "not-mine" | "hand-back" }>;

async function start({ engine, host, logs }: Runner, message: OccurrenceMessage, owner: string): Promise<Started> {
  const key = { scheduleId: message.scheduleId, firing: message.firing };
  const scheduledFor = fromIso(message.scheduledFor);
  const event = {
    type: "start",
    token: message.fencingToken,
    attempt: message.attempt,
    owner,
    ...(scheduledFor !== undefined && { scheduledFor }),
    ...(logs !== undefined && { logs }),
  } as const;
  const at = await timeOnceKnown(engine, host, key);
  if (at === undefined) return { kind: "hand-back", reason: "the store's time is not known" };
  const sentAt = momentOf(host);
  const { guard, change } = startTransition(event, at);
  const isMine = (row: Occurrence) => row.status === "RUNNING" && row.owner === owner;
  const verdict = await writeUntilDecided(engine, host, { key, guard, change, isMine });
  if (verdict === undefined) return { kind: "hand-back", reason: "the store did not take the start" };
  if (verdict.kind === "applied") return { kind: "started", row: verdict.row, at, sentAt };
  engine.metrics.count("StaleMessages");
  engine.logger.info("a message met no attempt that waits for it", {
    key: formatKey(key),
    token: message.fencingToken,
  });
  return { kind: "not-mine" };
}

/** Runs the job until it ends, its time is up, its lease is lost or the runner shuts down; a deaf job is left behind. */
async function executeWithin(
  runner: Runner,
  keeper: LeaseKeeper,
  row: Occurrence,
  deadline: Instant,
): Promise<{ execution: Execution; abandoned: boolean }> {
  const { host, shutdown } = runner;
  // It came while the start was under way: the attempt is taken, its job need not begin.
  if (shutdown?.aborted) return { execution: abortedBy(shutdown), abandoned: false };
  const timeUp = new AbortController();
  const ended = new AbortController();
  const signals = [timeUp.signal, keeper.lost, ...(shutdown ? [shutdown] : [])];
  const signal = AbortSignal.any(signals);
  const job = runner
    .execute({
      row,
      deadline,
      signal,
      leaseUntil: () => keeper.leaseUntil,
      heartbeat: async () => {
        if ((await keeper.renew()) === "lost") throw keeper.lost.reason;
      },
    })
    .finally(() => ended.abort());
  const clockwork = host.sleep(row.timeoutSeconds * 1000, AbortSignal.any([ended.signal, signal])).then(async () => {
    if (ended.signal.aborted) return;
    const message = `the job ran longer than its timeoutSeconds of ${row.timeoutSeconds}`;
    if (!signal.aborted) timeUp.abort(new DOMException(message, "TimeoutError"));
    await host.sleep(ABORT_GRACE_MS, ended.signal);
  });
  const execution = await Promise.race([job, clockwork.then(() => (ended.signal.aborted ? job : undefined))]);
  // What is done when the runner shuts down is done.
  const done = execution?.kind === "succeeded" && !timeUp.signal.aborted && !keeper.lost.aborted;
  if (execution !== undefined && (done || !signal.aborted)) return { execution, abandoned: false };
  return { execution: abortedBy(signal), abandoned: execution === undefined };
}

const abortedBy = ({ reason }: AbortSignal): Execution => ({
  kind: "failed",
  error: { name: reason instanceof Error ? reason.name : "AbortError", message: errorMessage(reason) },
  permanent: false,
});
