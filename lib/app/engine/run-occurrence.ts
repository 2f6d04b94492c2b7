import { errorMessage } from "../../core/errors.ts";
import { type Instant, plusMs } from "../../core/instant.ts";
import type { OccurrenceMessage } from "../../core/message.ts";
import { formatKey, type Occurrence, type RecordedError } from "../../core/occurrence.ts";
import { retryDelayMs } from "../../core/retry.ts";
import { type OccurrenceEvent, startTransition, transition } from "../../core/transition.ts";
import type { Host } from "../ports.ts";
import type { Engine } from "./engine.ts";
import { LeaseKeeper } from "./lease-keeper.ts";
import { momentOf } from "./moment.ts";
import { settleable, writeUntilDecided } from "./settle.ts";
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
  /** The report changed nothing: another attempt, a cancel or the clock was faster. Or it could not be delivered, and the lease decides. */
  | { readonly kind: "stale"; readonly abandoned: boolean }
  /** Nothing was started: let the queue deliver the message again. */
  | { readonly kind: "hand-back"; readonly reason: string };

/**
 * Runs the attempt a message stands for: start (the gate), execute, then report, in that order; acknowledging is the
 * caller's, and comes last. A crash anywhere leaves a row whose own `dueAt` recovers it.
 */
export async function runOccurrence(runner: Runner, message: OccurrenceMessage): Promise<RunResult> {
  const owner = runner.engine.newNonce();
  // Before the first start is sent: from here the lease is counted, however long its answer takes.
  const sentAt = momentOf(runner.host);
  const started = await start(runner, message, owner);
  if (started.kind !== "started") return started;
  const { row } = started;
  const keeper = new LeaseKeeper(runner.engine, runner.host, row, owner, sentAt);
  if (!keeper.holds()) {
    runner.engine.logger.warn("a start was answered too late to act on it", { key: formatKey(row) });
    return { kind: "stale", abandoned: false };
  }
  const { metrics, clock } = runner.engine;
  metrics.count("Starts");
  if (row.kind === "scheduled" && row.attempts === 1)
    metrics.record("StartLatenessMs", clock.now() - row.scheduledFor, row.scheduleId);
  const renewals = keeper.run();
  try {
    return await executeAndReport(runner, keeper, row, owner);
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
): Promise<RunResult> {
  const { engine, host } = runner;
  const startedMs = host.monotonicMs();
  const { execution, abandoned } = await executeWithin(runner, keeper, row);
  engine.metrics.record("RunDurationMs", host.monotonicMs() - startedMs, row.scheduleId);
  const reported = keeper.lost.aborted ? "stale" : await report(runner, row, owner, execution);
  if (reported === "stale") {
    engine.metrics.count("StaleReports");
    engine.logger.warn("a report came too late and changed nothing", { key: formatKey(row), token: row.fencingToken });
    return { kind: "stale", abandoned };
  }
  await letNextRun(engine, [reported]);
  return { kind: "reported", outcome: execution.kind, abandoned };
}

type Started =
  | { readonly kind: "started"; readonly row: Occurrence }
  | Extract<RunResult, { kind: "not-mine" | "hand-back" }>;

async function start({ engine, host, logs }: Runner, message: OccurrenceMessage, owner: string): Promise<Started> {
  const key = { scheduleId: message.scheduleId, firing: message.firing };
  const event = {
    type: "start",
    token: message.fencingToken,
    attempt: message.attempt,
    owner,
    ...(logs !== undefined && { logs }),
  } as const;
  const { guard, change } = startTransition(event, engine.clock.now());
  const isMine = (row: Occurrence) => row.status === "RUNNING" && row.owner === owner;
  const verdict = await writeUntilDecided(engine, host, { key, guard, change, isMine });
  if (verdict === undefined) return { kind: "hand-back", reason: "the store did not take the start" };
  if (verdict.kind === "applied") return { kind: "started", row: verdict.row };
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
): Promise<{ execution: Execution; abandoned: boolean }> {
  const { engine, host } = runner;
  const timeUp = new AbortController();
  const ended = new AbortController();
  const signals = [timeUp.signal, keeper.lost, ...(runner.shutdown ? [runner.shutdown] : [])];
  const signal = AbortSignal.any(signals);
  const job = runner
    .execute({
      row,
      deadline: plusMs(engine.clock.now(), row.timeoutSeconds * 1000),
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
  const aborted = { kind: "failed", error: abortedBy(signal), permanent: false } as const;
  return { execution: aborted, abandoned: execution === undefined };
}

const abortedBy = (signal: AbortSignal): RecordedError => ({
  name: signal.reason instanceof Error ? signal.reason.name : "AbortError",
  message: errorMessage(signal.reason),
});

async function report(
  { engine, host }: Runner,
  row: Occurrence,
  owner: string,
  execution: Execution,
): Promise<Occurrence | "stale"> {
  const next = transition(row, reportOf(engine, row, owner, execution), engine.clock.now(), engine.settings);
  if (next.kind === "refused") return "stale";
  const isMine = ({ log }: Occurrence) =>
    log.some((entry) => entry.token === row.fencingToken && entry.endedAt !== undefined);
  const verdict = await writeUntilDecided(engine, host, settleable(row, next, isMine));
  if (verdict?.kind !== "applied") return "stale";
  recordOutcome(engine, row, verdict.row, execution);
  return verdict.row;
}

function reportOf(engine: Engine, row: Occurrence, owner: string, execution: Execution): OccurrenceEvent {
  const held = { token: row.fencingToken, owner, log: row.log };
  if (execution.kind === "succeeded")
    return { type: "succeed", ...held, ...(execution.output !== undefined && { output: execution.output }) };
  const delayMs = retryDelayMs(row.retry, row.attempts, engine.random(), execution.retryAfterSeconds);
  return { type: "fail", ...held, error: execution.error, permanent: execution.permanent, delayMs };
}

function recordOutcome({ metrics, logger }: Engine, row: Occurrence, after: Occurrence, execution: Execution): void {
  const fields = { key: formatKey(row), occurrenceId: row.occurrenceId, attempt: row.attempts, status: after.status };
  if (execution.kind === "succeeded") {
    metrics.count("Succeeded", 1, row.scheduleId);
    if (after.outputDropped) logger.warn("the job's output was too large to keep", fields);
    return;
  }
  const retrying = after.status === "RETRYING";
  metrics.count(retrying ? "Retries" : "DeadLetters", 1, row.scheduleId);
  logger[retrying ? "warn" : "error"]("an attempt failed", { ...fields, error: execution.error });
}
