import type { OccurrenceEvent } from "../../core/machine.ts";
import { formatKey, type Occurrence } from "../../core/occurrence.ts";
import { retryDelayMs } from "../../core/retry.ts";
import { transition } from "../../core/transition.ts";
import type { Engine } from "./engine.ts";
import type { LeaseKeeper } from "./lease-keeper.ts";
import type { Execution, Runner } from "./run-occurrence.ts";
import { type Patience, settleable, timeOnceKnown, timeOrRead, WRITE_TRIES, writeUntilDecided } from "./settle.ts";
import { letNextRun } from "./turns.ts";

/** The most tries of one report, about ten minutes of them: a store that takes renewals for so long and this report never will not take it at all. */
const REPORT_TRIES_MAX = 300;

/**
 * Reports what an attempt's job came to, again and again while the lease holds: what is done must not be run anew because the
 * store was away. When the runner shuts down it has the time of a few tries. Answers the row as the report left it.
 */
export async function report(
  { engine, host, shutdown }: Runner,
  keeper: LeaseKeeper,
  row: Occurrence,
  owner: string,
  execution: Execution,
): Promise<Occurrence | "stale" | "unreported"> {
  keeper.reporting();
  const patience: Patience = {
    goesOn: (tries) => keeper.holds() && tries < (shutdown?.aborted ? WRITE_TRIES : REPORT_TRIES_MAX),
    hurry: [keeper.lost, ...(shutdown ? [shutdown] : [])],
  };
  const now = await timeOnceKnown(engine, host, row, patience);
  if (now === undefined) return "unreported";
  const next = transition(row, reportOf(engine, row, owner, execution), now, engine.settings);
  if (next.kind === "refused") return "stale";
  const verdict = await writeUntilDecided(engine, host, settleable(row, next, hasEnded(row)), patience);
  if (verdict === undefined) return "unreported";
  if (verdict.kind === "refused") return "stale";
  recordOutcome(engine, row, verdict.row, execution);
  return verdict.row;
}

const ONCE: Patience = { goesOn: () => false, hurry: [] };

/**
 * What is left to say where a report was stale: if the run was cancelled, its turn waits for whoever works at it, whose job has come
 * to its end now. Anything else that made the report stale refuses this, too; where it fails, the lease decides.
 */
export async function standDown(
  { engine, host }: Runner,
  row: Occurrence,
  owner: string,
  execution: Execution,
): Promise<boolean> {
  const now = await timeOrRead(engine, row);
  if (now === undefined) return false;
  const event = {
    type: "stand-down",
    token: row.fencingToken,
    owner,
    log: row.log,
    ...(execution.kind === "failed" && { error: execution.error }),
  } as const;
  const next = transition({ ...row, status: "CANCELLED" }, event, now, engine.settings);
  if (next.kind === "refused") return false;
  const verdict = await writeUntilDecided(engine, host, settleable(row, next, hasEnded(row)), ONCE);
  if (verdict?.kind !== "applied") return false;
  await letNextRun(engine, [verdict.row]);
  return true;
}

/** Tells of a later reading of `row` whether its attempt's end stands in it. */
const hasEnded =
  ({ fencingToken }: Occurrence) =>
  ({ log }: Occurrence): boolean =>
    log.some(({ token, endedAt }) => token === fencingToken && endedAt !== undefined);

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
