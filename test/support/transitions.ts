import { applyChange } from "../../lib/adapters/memory/apply.ts";
import { type Instant, plusMs } from "../../lib/core/instant.ts";
import type { OccurrenceEvent, Transition } from "../../lib/core/machine.ts";
import type { Occurrence } from "../../lib/core/occurrence.ts";
import { transition } from "../../lib/core/transition.ts";
import { anOccurrence, NOON } from "./occurrences.ts";

/** Finished rows are kept for thirty days. */
export const HISTORY = { historySeconds: 30 * 86_400 };

/** Five seconds past {@link NOON}: when a claimed row's runner gets to it. */
export const LATER = plusMs(NOON, 5_000);

/** What a job threw. */
export const JOB_ERROR = { name: "Error", message: "it broke" };

/** The write that `event` becomes on `row`; throws where it is refused. */
export function writeOf(
  row: Occurrence,
  event: OccurrenceEvent,
  now: Instant,
): Extract<Transition, { readonly kind: "write" }> {
  const next = transition(row, event, now, HISTORY);
  if (next.kind === "refused") throw new Error(`${event.type} of a ${row.status} row was refused: ${next.reason}`);
  return next;
}

/** `row` once `event` has happened to it. */
export const step = (row: Occurrence, event: OccurrenceEvent, now: Instant): Occurrence =>
  applyChange(row, writeOf(row, event, now).change);

/** Whether `event` does not apply to `row` as it was read. */
export const isRefused = (row: Occurrence, event: OccurrenceEvent, now: Instant): boolean =>
  transition(row, event, now, HISTORY).kind === "refused";

export const CLAIM = { type: "claim", owner: "dispatcher" } as const;
export const startOf = (token: number, attempt = token) =>
  ({ type: "start", token, owner: "runner", attempt }) as const;

/** What a runner's report carries of the row that its start answered with. */
export const reportOf = (row: Occurrence) => ({ token: row.fencingToken, owner: row.owner ?? "", log: row.log });
export const failureOf = (row: Occurrence, permanent = false, delayMs = 1_000) =>
  ({ type: "fail", ...reportOf(row), error: JOB_ERROR, permanent, delayMs }) as const;

/** A head that a dispatcher claimed at {@link NOON}. */
export const claimedRow = (given: Partial<Occurrence> = {}): Occurrence => step(anOccurrence(given), CLAIM, NOON);

/** One that a runner started {@link LATER}. */
export function runningRow(given: Partial<Occurrence> = {}): Occurrence {
  const row = claimedRow(given);
  return step(row, startOf(row.fencingToken), LATER);
}
