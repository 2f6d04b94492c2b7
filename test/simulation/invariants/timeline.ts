import { toIso } from "../../../lib/core/instant.ts";
import type { Seen } from "../world/facts.ts";
import type { World } from "../world/world.ts";
import type { Violation } from "./invariant.ts";

/** The most lines of a timeline: the last ones tell what went wrong. */
const LINES_MAX = 150;

/** A violation as a reader wants it: the seed, what is wrong, and all that happened to that run, in order. */
export function report(world: World, seed: number, { invariant, key, message, at }: Violation): string {
  const own = world.seen.filter((fact) => concerns(fact, key));
  // What befell a process matters only where it had to do with this run.
  const involved = new Set(own.flatMap((fact) => (isFate(fact) || fact.by === undefined ? [] : [fact.by])));
  const lines = own.filter((fact) => !isFate(fact) || fact.by === undefined || involved.has(fact.by)).map(line);
  return [
    `seed ${seed} breaks "${invariant}"`,
    `${key ?? "the world"}: ${message} (at ${new Date(at).toISOString()})`,
    ...lines.slice(-LINES_MAX),
  ].join("\n");
}

const isFate = ({ type }: Seen): boolean => type === "fault" || type === "process" || type === "log";

function concerns(fact: Seen, key: string | undefined): boolean {
  if (key === undefined) return fact.type !== "looked" && fact.type !== "process";
  const scheduleId = key.split("@")[0] ?? key;
  switch (fact.type) {
    case "row":
    case "expired":
    case "write":
    case "sent":
    case "delivered":
    case "given-back":
    case "acknowledged":
      return fact.key === key || (!key.includes("@") && fact.key.startsWith(`${scheduleId}@`));
    case "job-started":
    case "job-ended":
    case "effect":
      return fact.attempt.key === key;
    case "schedule":
    case "reconciled":
    case "turn-taken":
      return fact.scheduleId === scheduleId;
    case "operator":
      return fact.name === key || fact.name.split("@")[0] === key || fact.name === scheduleId;
    case "fault":
    case "deployed":
      return true;
    case "process":
      return fact.what !== "started" && fact.what !== "ended";
    case "record-lost":
      return fact.key === key || fact.scheduleId === scheduleId;
    case "log":
      return fact.fields?.["key"] === undefined || fact.fields["key"] === key;
    case "looked":
    case "schedule-read":
    case "published":
      return false;
    default:
      return fact satisfies never;
  }
}

const line = (fact: Seen): string =>
  `${toIso(fact.at).slice(11, 23)} ${(fact.by?.name ?? "-").padEnd(18)} ${told(fact)}`;

function told(fact: Seen): string {
  switch (fact.type) {
    case "row": {
      const { old, new: row } = fact;
      if (row === undefined) return `${fact.key} removed (was ${old?.status}/${old?.fencingToken})`;
      const due = row.dueAt === undefined ? "" : ` due ${toIso(row.dueAt).slice(11, 23)}`;
      const why = row.deadLetterReason ?? row.skipReason ?? "";
      const held = row.owner === undefined ? "" : ` owner ${row.owner}`;
      return `${fact.key} ${old?.status ?? "absent"} -> ${row.status} ${why} token ${row.fencingToken} attempts ${row.attempts}/${row.maxAttempts}${held}${due}`;
    }
    case "expired":
      return `expired: removed by the TTL`;
    case "schedule":
      return `schedule ${fact.scheduleId} is now ${JSON.stringify(fact.new ?? "deleted")}`;
    case "write":
      return `write of ${fact.status} ${fact.applied ? "applied" : "refused"}`;
    case "sent":
      return `sent ${fact.deduplicationId} to ${fact.queue}${fact.swallowed ? ", swallowed" : ""}`;
    case "job-started":
      return `job begins: token ${fact.attempt.token}, owner ${fact.attempt.owner}`;
    case "job-ended":
      return `job ends ${fact.outcome}: token ${fact.attempt.token}`;
    case "effect":
      return `effect of token ${fact.attempt.token} ${fact.accepted ? "taken" : "refused"}`;
    case "log":
      return `log: ${fact.message} ${JSON.stringify(fact.fields ?? {})}`;
    default: {
      const { type, at: _, by: __, ...rest } = fact;
      return `${type} ${JSON.stringify(rest)}`;
    }
  }
}
