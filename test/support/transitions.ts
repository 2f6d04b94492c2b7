import { applyChange } from "../../lib/adapters/memory/apply.ts";
import type { Instant } from "../../lib/core/instant.ts";
import type { Occurrence } from "../../lib/core/occurrence.ts";
import { type OccurrenceEvent, type Transition, transition } from "../../lib/core/transition.ts";

/** Finished rows are kept for thirty days. */
export const HISTORY = { historySeconds: 30 * 86_400 };

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
export const after = (row: Occurrence, event: OccurrenceEvent, now: Instant): Occurrence =>
  applyChange(row, writeOf(row, event, now).change);
