import { describe, expect, it } from "vitest";
import { applyChange } from "../../lib/adapters/memory/apply.ts";
import { plusMs } from "../../lib/core/instant.ts";
import {
  type OccurrenceEvent,
  type OccurrenceEventType,
  TRANSITIONS,
  type TransitionRule,
} from "../../lib/core/machine.ts";
import { isTerminal, OCCURRENCE_STATUSES, type Occurrence, type OccurrenceStatus } from "../../lib/core/occurrence.ts";
import { transition } from "../../lib/core/transition.ts";
import { anOccurrence, NOON } from "../support/occurrences.ts";
import { HISTORY, writeOf } from "../support/transitions.ts";

const NOW = plusMs(NOON, 3_600_000);
const OWNER = "held-by";
const TOKEN = 3;
const error = { name: "Error", message: "it broke" };
const misfire = { policy: "skip", count: 1, more: false, from: NOON, to: NOON } as const;
const report = { token: TOKEN, owner: OWNER, log: [{ token: TOKEN, attempt: 2, startedAt: NOON }] };

const EVENTS: { readonly [Type in OccurrenceEventType]: Extract<OccurrenceEvent, { type: Type }> } = {
  claim: { type: "claim", owner: "another" },
  "claim-again": { type: "claim-again", owner: "another" },
  queued: { type: "queued", owner: OWNER },
  release: { type: "release", owner: OWNER },
  reject: { type: "reject", owner: OWNER, error },
  enqueued: { type: "enqueued", owner: OWNER },
  start: { type: "start", token: TOKEN, owner: "runner", attempt: 2 },
  renew: { type: "renew", token: TOKEN, owner: OWNER },
  succeed: { type: "succeed", ...report },
  fail: { type: "fail", ...report, error, permanent: false, delayMs: 1_000 },
  "worker-lost": { type: "worker-lost" },
  "never-started": { type: "never-started" },
  skip: { type: "skip", reason: "paused" },
  decide: { type: "decide", misfire },
  defer: { type: "defer", dueAt: plusMs(NOW, 60_000) },
  cancel: { type: "cancel", reason: "requested" },
  "stand-down": { type: "stand-down", ...report, token: TOKEN - 1, error },
  replay: { type: "replay" },
  backfill: { type: "backfill" },
  discard: { type: "discard" },
};

/** A row in `status` that has all that `event` asks for beside the right status: due, its lease over, attempts left or used up. */
function rowFor(event: OccurrenceEvent, status: OccurrenceStatus): Occurrence {
  const held = status === "DISPATCHED" || status === "RUNNING" || status === "CANCELLED";
  const { dueAt, ...row } = anOccurrence({
    status,
    kind: "backfill",
    attempts: 2,
    fencingToken: TOKEN,
    ...(event.type === "worker-lost" && { maxAttempts: 2 }),
    ...(event.type === "never-started" && { startDeadlineSeconds: 60 }),
    ...(held && { owner: OWNER, leaseUntil: NOON }),
  });
  return isTerminal(status) ? { ...row, endedAt: NOON } : { ...row, ...(dueAt !== undefined && { dueAt }) };
}

const everyPair = Object.values(EVENTS).flatMap((event) => OCCURRENCE_STATUSES.map((status) => ({ event, status })));
type Pair = (typeof everyPair)[number];

/** Each pair under its name, as `it.each` takes it. */
const named = (pairs: readonly Pair[]) =>
  pairs.map((pair): [string, Pair] => [`${pair.event.type} of a ${pair.status} row`, pair]);

const ruleOf = ({ type }: OccurrenceEvent): TransitionRule => TRANSITIONS[type];
const accepted = everyPair.filter(({ event, status }) => ruleOf(event).from.includes(status));
const refused = everyPair.filter(({ event, status }) => !ruleOf(event).from.includes(status));

describe("the machine's table", () => {
  it.each(named(accepted))("lets %s happen, and it leads where the table says", (_, { event, status }) => {
    const row = rowFor(event, status);
    const { guard, change } = writeOf(row, event, NOW);
    expect(ruleOf(event).to).toContain(applyChange(row, change).status);
    expect(guard.length).toBeGreaterThan(1);
  });

  // A start is decided on its message alone: its guard refuses what the table refuses.
  it.each(named(refused.filter(({ event }) => event.type !== "start")))("refuses %s", (_, { event, status }) => {
    expect(transition(rowFor(event, status), event, NOW, HISTORY)).toEqual({
      kind: "refused",
      reason: expect.stringContaining(`the row is ${status}`),
    });
  });

  it("changes nothing of a finished run but by standing down, a replay, a backfill or a discard", () => {
    const leaving = Object.values(EVENTS).filter((event) => ruleOf(event).from.some(isTerminal));
    expect(leaving.map(({ type }) => type)).toEqual(["stand-down", "replay", "backfill", "discard"]);
  });

  it("reaches every state", () => {
    const reached = new Set<OccurrenceStatus>(Object.values(EVENTS).flatMap((event) => [...ruleOf(event).to]));
    expect([...reached].sort()).toEqual([...OCCURRENCE_STATUSES].sort());
  });
});

describe("every guard", () => {
  it.each(named(accepted))("of %s names the row's state and its fencing token", (_, { event, status }) => {
    const { guard } = writeOf(rowFor(event, status), event, NOW);
    const states = guard.flatMap((clause): (string | number)[] => {
      if (clause.attribute !== "status") return [];
      return "values" in clause ? [...clause.values] : [clause.value];
    });
    expect(states).toContain(status);
    expect(guard).toContainEqual({ attribute: "fencingToken", op: "=", value: TOKEN });
  });

  // A message knows no owner: what a start must meet is a dispatched row of its own token, whoever sent it.
  const held = accepted.filter(({ event, status }) => rowFor(event, status).owner && event.type !== "start");
  it.each(named(held))("of %s names the holder, where there is one", (_, { event, status }) => {
    const { guard } = writeOf(rowFor(event, status), event, NOW);
    expect(guard).toContainEqual({ attribute: "owner", op: "=", value: OWNER });
  });

  it.each(["claim", "claim-again", "worker-lost", "never-started", "skip", "decide", "defer"] as const)(
    "of a dispatcher's %s names the due time that the index showed",
    (type) => {
      for (const status of ruleOf(EVENTS[type]).from)
        expect(writeOf(rowFor(EVENTS[type], status), EVENTS[type], NOW).guard).toContainEqual({
          attribute: "dueAt",
          op: "=",
          value: NOON,
        });
    },
  );
});

describe("the alarm clock", () => {
  it.each(named(accepted))("stands on a row after %s exactly as long as it is unfinished", (_, { event, status }) => {
    const row = rowFor(event, status);
    const next = applyChange(row, writeOf(row, event, NOW).change);
    expect(next.dueAt !== undefined).toBe(!isTerminal(next.status));
  });

  // Whoever stands down leaves what the cancel wrote.
  const ending = accepted.filter(({ event }) => event.type !== "stand-down" && ruleOf(event).to.some(isTerminal));
  it.each(named(ending))(
    "says in whole seconds when a row may expire, and only where nobody must look at it: %s",
    (_, { event, status }) => {
      const row = rowFor(event, status);
      const next = applyChange(row, writeOf(row, event, NOW).change);
      const kept = next.status === "FAILED" || next.status === "DEAD_LETTERED" || !isTerminal(next.status);
      // F320: a TTL in milliseconds never comes; one in seconds lies between 2001 and the year 5138.
      const expiry = Math.floor(NOW / 1000) + HISTORY.historySeconds;
      expect(next.expiresAtSeconds).toBe(kept && event.type !== "discard" ? undefined : expiry);
      expect(expiry).toBeGreaterThan(1e9);
      expect(expiry).toBeLessThan(1e11);
    },
  );
});
