import { errorMessage } from "../../core/errors.ts";
import { deduplicationId } from "../../core/ids.ts";
import type { OccurrenceEvent } from "../../core/machine.ts";
import { encodeMessage, messageOf } from "../../core/message.ts";
import { formatKey, isHandedOver, type Occurrence } from "../../core/occurrence.ts";
import { transition } from "../../core/transition.ts";
import type { SendVerdict } from "../ports.ts";
import type { Engine } from "./engine.ts";
import { type SettleableWrite, settleable, timeOrRead, writeSettled } from "./settle.ts";
import { letNextRun } from "./turns.ts";

/** A row this dispatcher holds, as its claim left it. `again`: the same attempt was sent before, or may have been. */
export interface Claimed {
  readonly row: Occurrence;
  readonly owner: string;
  readonly again: boolean;
}

/**
 * Sends each claimed attempt once and acts on each answer: what SQS refused is released (the attempt was none), what it can
 * never take fails at once, what is in doubt is left to the claim lease. One refusal never holds up the rest.
 */
export async function sendClaimed(engine: Engine, claimed: readonly Claimed[]): Promise<void> {
  const [first] = claimed;
  if (first === undefined) return;
  // A lease that ran out meanwhile (a long pause) is anybody's by now: whoever has it sends. Where the time cannot be told, all
  // are sent: a claim that is not would wait for its lease, and what is sent twice meets no attempt that waits for it.
  const now = await timeOrRead(engine, first.row);
  const held = claimed.filter(
    ({ row: { leaseUntil } }) => leaseUntil !== undefined && (now === undefined || now < leaseUntil),
  );
  if (held.length === 0) return;
  const verdicts = await engine.queue.send(
    held.map(({ row }) => ({
      queue: row.queue,
      deduplicationId: deduplicationId(row.occurrenceId, row.fencingToken),
      body: encodeMessage(messageOf(row)),
    })),
  );
  const written = await writeSettled(
    engine,
    await followUpWrites(
      engine,
      held.flatMap((claim, index) => {
        const event = followUp(engine, claim, verdicts[index]);
        return event === undefined ? [] : [{ row: claim.row, event }];
      }),
    ),
  );
  // Where a queue promises no more than delivery, this was the end of its runs: whoever waits for one may go on.
  const ended = written.flatMap((verdict) => (verdict.kind === "applied" ? [verdict.row] : []));
  for (const { status, scheduleId } of ended)
    if (status === "SUCCEEDED") engine.metrics.count("Succeeded", 1, scheduleId);
    else if (status === "FAILED") engine.metrics.count("DeadLetters", 1, scheduleId);
  await letNextRun(engine, ended);
}

interface FollowUp {
  readonly row: Occurrence;
  readonly event: OccurrenceEvent;
}

/** What follows as writes; none where the time stays unknown: the claim lease decides. */
async function followUpWrites(engine: Engine, followUps: readonly FollowUp[]): Promise<readonly SettleableWrite[]> {
  const [first] = followUps;
  if (first === undefined) return [];
  const now = await timeOrRead(engine, first.row);
  if (now === undefined) {
    engine.logger.warn("what SQS answered could not be noted: the store's time is not known", {
      rows: followUps.length,
    });
    return [];
  }
  return followUps.flatMap(({ row, event }): SettleableWrite[] => {
    const next = transition(row, event, now, engine.settings);
    if (next.kind === "refused") return [];
    const isMine = (seen: Occurrence) =>
      seen.status === next.change.set.status && seen.fencingToken === row.fencingToken;
    return [settleable(row, next, isMine)];
  });
}

/** What follows from SQS's answer. `undefined`: nothing but the claim lease. */
function followUp(engine: Engine, claim: Claimed, verdict: SendVerdict | undefined): OccurrenceEvent | undefined {
  const { row, owner, again } = claim;
  const fields = { key: formatKey(row), occurrenceId: row.occurrenceId, token: row.fencingToken };
  switch (verdict?.kind) {
    case "accepted":
      if (isHandedOver(row)) return { type: "enqueued", owner };
      // Only now is it known that the queue holds the message: a backlog there must not multiply it.
      return again ? { type: "queued", owner } : undefined;
    case "refused":
      engine.metrics.count("Releases");
      engine.logger.warn("SQS did not take a message; it is tried again", {
        ...fields,
        error: errorMessage(verdict.error),
      });
      return { type: "release", owner };
    case "rejected":
      engine.metrics.count("Rejected", 1, row.scheduleId);
      engine.logger.error("SQS can never take a message: the run failed", { ...fields, error: verdict.error });
      return { type: "reject", owner, error: verdict.error };
    case "unknown":
    case undefined:
      engine.logger.warn("no answer from SQS; the claim lease decides", {
        ...fields,
        error: verdict === undefined ? "no answer" : errorMessage(verdict.error),
      });
      return undefined;
    default:
      return verdict satisfies never;
  }
}
