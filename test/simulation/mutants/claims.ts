import type { Mutant } from "./mutant.ts";

const TRANSITION = "lib/core/transition.ts";
const ENDS = "lib/core/transition-ends.ts";
const VISIT = "lib/core/visit.ts";

/** Bugs planted into how attempts are taken, given back and counted. */
export const CLAIM_MUTANTS: readonly Mutant[] = [
  {
    name: "claim without condition",
    shownBy: { world: "runs that wait" },
    file: TRANSITION,
    find: "write([...asSeen(row), attemptsBelow(maxAttempts), versionIs(row.scheduleVersion)], {",
    replace: "write([], {",
  },
  {
    name: "claim of a lost attempt keeps its token",
    shownBy: { world: "a job that kills its process" },
    file: TRANSITION,
    find: "add: { attempts: 1, fencingToken: 1 },",
    replace: "add: { attempts: 1, fencingToken: crashed ? 0 : 1 },",
  },
  {
    name: "claim without dueAt in its condition",
    shownBy: { world: "a run that waits for another's end, in an index that is late" },
    file: TRANSITION,
    find: "write([...asSeen(row), attemptsBelow(maxAttempts)",
    replace: "write([...sameHolder(row), attemptsBelow(maxAttempts)",
  },
  {
    name: "claim guarded by the status alone",
    shownBy: { world: "a run that waits for another's end, in an index that is late" },
    file: TRANSITION,
    find: "write([...asSeen(row), attemptsBelow(maxAttempts), versionIs(row.scheduleVersion)], {",
    replace: "write([statusIs(row.status), attemptsBelow(maxAttempts), versionIs(row.scheduleVersion)], {",
  },
  {
    name: "claim without version in its condition",
    shownBy: { world: "edits that are taken back, in an index that still shows the head of before" },
    file: TRANSITION,
    find: ", versionIs(row.scheduleVersion)], {",
    replace: "], {",
  },
  {
    name: "a lost race ends the batch",
    shownBy: { world: "a row that another takes first, beside one that nobody does" },
    file: "lib/app/engine/visit-rows.ts",
    find: 'if (verdict?.kind === "refused") engine.metrics.count("LostRaces");',
    replace: 'if (verdict?.kind === "refused") break;',
  },
  {
    name: "exhaustion off by one",
    shownBy: { world: "a job that kills its process for good" },
    file: VISIT,
    find: 'return row.attempts >= row.maxAttempts ? "worker-lost" : "claim";',
    replace: 'return row.attempts > row.maxAttempts ? "worker-lost" : "claim";',
    also: [
      {
        file: TRANSITION,
        find: 'if (row.attempts >= maxAttempts) return { kind: "refused", reason: "attempts are used up" };',
        replace: "",
      },
      { file: TRANSITION, find: "attemptsBelow(maxAttempts), ", replace: "" },
    ],
  },
  {
    name: "a retry that never counts as the last one",
    shownBy: { seed: 2 },
    file: ENDS,
    find: "if (row.attempts >= row.maxAttempts)\n    return deadLetter(row",
    replace: "if (row.attempts > row.maxAttempts)\n    return deadLetter(row",
    also: [
      {
        file: TRANSITION,
        find: 'if (row.attempts >= maxAttempts) return { kind: "refused", reason: "attempts are used up" };',
        replace: "",
      },
      { file: TRANSITION, find: "attemptsBelow(maxAttempts), ", replace: "" },
    ],
  },
  {
    name: "an exhausted row is left at the front of the index",
    shownBy: { world: "a job that kills its process for good" },
    file: VISIT,
    find: 'return row.attempts >= row.maxAttempts ? "worker-lost" : "claim";',
    replace: 'return row.attempts >= row.maxAttempts ? "nothing" : "claim";',
  },
  {
    name: "release refunds the token",
    shownBy: { seed: 2 },
    file: TRANSITION,
    find: "add: { attempts: -1 },",
    replace: "add: { attempts: -1, fencingToken: -1 },",
  },
  {
    name: "release guarded without the status",
    shownBy: {
      world: "a run that succeeds",
      faults: [
        { index: 31, fault: { kind: "throttled" } },
        { index: 32, fault: { kind: "sent-twice" } },
      ],
    },
    file: TRANSITION,
    find: '  return write(heldBy(row, owner), {\n    set: { status: "PENDING"',
    replace: '  return write([tokenIs(row.fencingToken)], {\n    set: { status: "PENDING"',
    after: { name: "send", kind: "throttled" },
  },
  {
    name: "release of a send in doubt",
    shownBy: {
      world: "a run that is done once it is in its queue",
      faults: [{ index: 31, fault: { kind: "answer-lost" } }],
    },
    file: "lib/app/engine/send-claimed.ts",
    find: '    case "unknown":\n    case undefined:',
    replace: '    case "unknown":\n      return { type: "release", owner };\n    case undefined:',
  },
  {
    name: "a refused send taken for an accepted one",
    shownBy: {
      world: "a run that is done once it is in its queue",
      faults: [{ index: 31, fault: { kind: "throttled" } }],
    },
    file: "lib/app/engine/send-claimed.ts",
    find: '    case "accepted":',
    replace: '    case "refused":\n    case "accepted":',
  },
  {
    name: "queue lease written before SQS accepted",
    shownBy: { seed: 2 },
    file: TRANSITION,
    find: "...held(owner, row, now, LEASES.claimLeaseMs),",
    replace: "...held(owner, row, now, LEASES.queueLeaseMs),",
  },
  {
    name: "a retry sent with the bare id",
    shownBy: { world: "a job that kills its process" },
    file: "lib/core/ids.ts",
    find: "fencingToken === 1 ? occurrenceId :",
    replace: "fencingToken > 0 ? occurrenceId :",
  },
  {
    name: "the bare id chosen by attempts",
    shownBy: { world: "a dead run that is replayed while the next one takes its turn" },
    file: "lib/app/engine/send-claimed.ts",
    find: "deduplicationId: deduplicationId(row.occurrenceId, row.fencingToken),",
    replace:
      "deduplicationId: row.attempts === 1 ? row.occurrenceId : deduplicationId(row.occurrenceId, row.fencingToken),",
  },
  {
    name: "a claim-again over a live claim lease",
    shownBy: { world: "consumers that are away for five minutes, in an index that is late" },
    file: TRANSITION,
    find: "return lapsed(row, now) ?? write([...asSeen(row)], { set: claimedAgain(",
    replace: "return write([statusIs(row.status), tokenIs(row.fencingToken)], { set: claimedAgain(",
    also: [
      {
        file: VISIT,
        find: 'if (row.dueAt === undefined || now < row.dueAt) return "nothing";',
        replace: 'if (row.dueAt === undefined) return "nothing";',
      },
    ],
  },
  {
    name: "the start deadline counts from the claim before",
    shownBy: { world: "consumers that are away for five minutes, in an index that is late" },
    file: VISIT,
    find: 'return now >= startDeadline(row) ? "never-started" : "claim-again";',
    replace: 'return "never-started";',
    also: [{ file: TRANSITION, find: "isHead(row) || now < startDeadline(row)", replace: "isHead(row)" }],
  },
];
