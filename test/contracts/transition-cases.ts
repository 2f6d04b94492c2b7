import type { OccurrenceWrite } from "../../lib/app/ports.ts";
import { type Instant, plusMs } from "../../lib/core/instant.ts";
import { type OccurrenceEvent, TRANSITIONS } from "../../lib/core/machine.ts";
import type { Occurrence, OccurrenceStatus } from "../../lib/core/occurrence.ts";
import { transition } from "../../lib/core/transition.ts";
import { anOccurrence, NOON } from "../support/occurrences.ts";

/** A transition of the machine as the conditional write it becomes, on a row to which it applies. Each has a row of its own. */
export interface TransitionCase extends OccurrenceWrite {
  readonly title: string;
  readonly row: Occurrence;
}

const OWNER = "dispatcher-1";
const HISTORY = { historySeconds: 30 * 86_400 };
const error = { name: "TypeError", message: "it broke" };
const misfire = { policy: "coalesce", count: 2, more: false, from: NOON, to: plusMs(NOON, 60_000) } as const;
const log = [{ token: 3, attempt: 2, startedAt: NOON }];
const report = { token: 3, owner: OWNER };

/** One of each event, with and without its optional parts where they make another write. */
const EVENTS: readonly OccurrenceEvent[] = [
  { type: "claim", owner: "dispatcher-2" },
  { type: "claim", owner: "dispatcher-2", endsEnqueued: true },
  { type: "claim-again", owner: "dispatcher-2" },
  { type: "claim-again", owner: "dispatcher-2", endsEnqueued: true },
  { type: "queued", owner: OWNER },
  { type: "release", owner: OWNER },
  { type: "reject", owner: OWNER, error },
  { type: "enqueued", owner: OWNER },
  { type: "start", token: 3, owner: "runner", attempt: 2, logs: "group/stream" },
  { type: "renew", ...report },
  { type: "succeed", ...report, log, output: '{"sent":1}' },
  { type: "fail", ...report, log, error, permanent: false, delayMs: 1_500 },
  { type: "fail", ...report, log, error, permanent: true, delayMs: 0 },
  { type: "worker-lost" },
  { type: "never-started" },
  { type: "skip", reason: "misfire", misfire },
  { type: "decide", misfire },
  { type: "defer", dueAt: plusMs(NOON, 60_000) },
  { type: "cancel", reason: "requested" },
  { type: "stand-down", ...report, token: 2, log, error },
  { type: "replay" },
  { type: "backfill" },
  { type: "discard" },
];

/** A row in `status` that the events above fit: at its third token, its lease over, past its start deadline where that matters. */
function rowFor(event: OccurrenceEvent, status: OccurrenceStatus): Occurrence {
  const running = status === "RUNNING" || status === "DISPATCHED" || status === "CANCELLED";
  const finished = status === "CANCELLED" || status === "SKIPPED" || status === "FAILED" || status === "DEAD_LETTERED";
  const permanent = event.type === "fail" && event.permanent ? ".permanently" : "";
  const enqueued = "endsEnqueued" in event ? ".enqueued" : "";
  const { dueAt, ...base } = anOccurrence({
    scheduleId: `${event.type}${permanent}${enqueued}.from.${status}`,
    status,
    attempts: 2,
    fencingToken: 3,
    kind: "backfill",
    ...(event.type === "worker-lost" && { maxAttempts: 2 }),
    ...(event.type === "never-started" && { startDeadlineSeconds: 0 }),
    ...(running && { owner: OWNER, leaseUntil: plusMs(NOON, -1) }),
    ...(status === "RUNNING" && { log }),
    ...(finished && { endedAt: NOON, expiresAtSeconds: 1_800_000_000, announcedAt: NOON, lastError: error }),
    ...(finished && status !== "SKIPPED" && status !== "CANCELLED" && { deadLetterShard: 0, deadLetteredAt: NOON }),
  });
  return { ...base, ...(!finished && dueAt !== undefined && { dueAt }) };
}

function caseOf(event: OccurrenceEvent, status: OccurrenceStatus, now: Instant): TransitionCase {
  const row = rowFor(event, status);
  const outcome = transition(row, event, now, HISTORY);
  if (outcome.kind === "refused") throw new Error(`${event.type} from ${status}: ${outcome.reason}`);
  const { guard, change } = outcome;
  return { title: row.scheduleId, row, key: { scheduleId: row.scheduleId, firing: row.firing }, guard, change };
}

/** Every event from every state that the machine's table names. */
export const TRANSITION_CASES: readonly TransitionCase[] = EVENTS.flatMap((event) =>
  TRANSITIONS[event.type].from.map((status) => caseOf(event, status, plusMs(NOON, 1))),
);

const covered = new Set(EVENTS.map(({ type }) => type));
const uncovered = Object.keys(TRANSITIONS).filter((type) => ![...covered].some((name) => name === type));
if (uncovered.length > 0) throw new Error(`no case for ${uncovered.join(", ")}`);
