import type { Change } from "../../core/machine.ts";
import type { DueRow, Occurrence } from "../../core/occurrence.ts";

/** `row` after `change`: what DynamoDB makes of the rendered UPDATE. */
export function applyChange(row: Occurrence, { set, add, appendLog, remove = [] }: Change): Occurrence {
  const changed: Occurrence = {
    ...row,
    ...withoutUndefined(set),
    attempts: set.attempts ?? row.attempts + (add?.attempts ?? 0),
    fencingToken: set.fencingToken ?? row.fencingToken + (add?.fencingToken ?? 0),
    ...(appendLog && { log: [...row.log, appendLog] }),
  };
  return withoutKeys(changed, remove);
}

/** `value` without members that are `undefined`: a stored row has none. */
export function withoutUndefined<T extends object>(value: T): T {
  const clean = { ...value };
  for (const name of Object.keys(clean))
    if (Reflect.get(clean, name) === undefined) Reflect.deleteProperty(clean, name);
  return clean;
}

function withoutKeys<T extends object>(value: T, names: readonly PropertyKey[]): T {
  const clean = { ...value };
  for (const name of names) Reflect.deleteProperty(clean, name);
  return clean;
}

/** What the due index projects of a row: nothing else may be decided on. */
export const dueRowOf = (row: Occurrence): DueRow => ({
  scheduleId: row.scheduleId,
  firing: row.firing,
  occurrenceId: row.occurrenceId,
  kind: row.kind,
  status: row.status,
  scheduledFor: row.scheduledFor,
  ...(row.dueAt !== undefined && { dueAt: row.dueAt }),
  shard: row.shard,
  attempts: row.attempts,
  maxAttempts: row.maxAttempts,
  fencingToken: row.fencingToken,
  ...(row.owner !== undefined && { owner: row.owner }),
  ...(row.leaseUntil !== undefined && { leaseUntil: row.leaseUntil }),
  firstDueAt: row.firstDueAt,
  startDeadlineSeconds: row.startDeadlineSeconds,
  scheduleVersion: row.scheduleVersion,
  queue: row.queue,
  ...(row.suspect !== undefined && { suspect: row.suspect }),
  ...(row.misfire !== undefined && { misfire: row.misfire }),
  overlap: row.overlap,
});
