import type { Mutant } from "./mutant.ts";

const TRANSITION = "lib/core/transition.ts";
const RUN = "lib/app/engine/run-occurrence.ts";
const BATCH = "lib/app/engine/run-batch.ts";
const DELIVERY = "lib/app/engine/run-delivery.ts";

/** Bugs planted into how attempts start, keep their lease, report, retry and become known. */
export const RUN_MUTANTS: readonly Mutant[] = [
  {
    name: "acknowledging before completing",
    file: BATCH,
    find: "const result = await runDelivery(runner, opened);",
    replace:
      'const result = await Promise.race([runDelivery(runner, opened), runner.host.sleep(300).then(() => ({ kind: "not-mine" }) as const)]);',
  },
  {
    name: "start without token",
    file: TRANSITION,
    find: 'return write([statusIs("DISPATCHED"), tokenIs(event.token)], {',
    replace: 'return write([statusIs("DISPATCHED")], {',
  },
  {
    name: "start without status",
    file: TRANSITION,
    find: 'return write([statusIs("DISPATCHED"), tokenIs(event.token)], {',
    replace: "return write([tokenIs(event.token)], {",
  },
  {
    name: "a report guarded by the token alone",
    file: TRANSITION,
    find: '  statusIs("RUNNING"),\n  tokenIs(event.token),\n  ownerIs(event.owner),',
    replace: "  tokenIs(event.token),",
  },
  {
    name: "a job run after its start was settled too late",
    file: RUN,
    find: "if (!keeper.holds()) {",
    replace: "if (keeper.lost.aborted) {",
  },
  {
    name: "the first lease measured from the start's answer",
    file: RUN,
    find: "new LeaseKeeper(runner.engine, runner.host, row, owner, sentAt)",
    replace: "new LeaseKeeper(runner.engine, runner.host, row, owner, momentOf(runner.host))",
  },
  {
    name: "the lease is never renewed",
    file: "lib/core/lease.ts",
    find: "renewEveryMs: 9_000,",
    replace: "renewEveryMs: 90_000,",
    also: [{ file: "lib/core/timing.ts", find: "assertTiming(DEFAULT_NUMBERS);", replace: "" }],
  },
  {
    name: "this host's clock instead of the store's",
    file: "lib/adapters/dynamodb/store-clock.ts",
    find: "    return current.at;",
    replace: "    return instant(Math.floor(host.wallMs()));",
  },
  {
    name: "an unmarked redelivery taken for a replay",
    file: DELIVERY,
    find: "return runOccurrence(runner, opened.message);",
    replace:
      'return runOccurrence(runner, opened.message).then((result) => result.kind === "not-mine" ? replayRedriven(runner, opened.message) : result);',
  },
  {
    name: "a crash leaves no suspect",
    file: TRANSITION,
    find: "...(crashed && { suspect: true }),",
    replace: "",
  },
  {
    name: "suspects run beside their neighbours",
    file: BATCH,
    find: "const trusted = opened.filter((each) => !isSuspect(each));",
    replace: "const trusted = opened;",
  },
  {
    name: "backoff counts one attempt too many",
    file: "lib/core/retry.ts",
    find: "policy.multiplier ** (attempt - 1)",
    replace: "policy.multiplier ** attempt",
  },
  {
    name: "a finished row still falls due",
    file: TRANSITION,
    find: '  set: { status, endedAt: now, expiresAtSeconds: expiry(now, settings), ...extra },\n  remove: ["dueAt", "suspect"],',
    replace:
      '  set: { status, endedAt: now, expiresAtSeconds: expiry(now, settings), ...extra },\n  remove: ["suspect"],',
  },
  {
    name: "announcement identity without the token",
    file: "lib/core/ids.ts",
    find: "export const deadLetterDeduplicationId = (occurrenceId: string, fencingToken: number): string =>",
    replace:
      'export const deadLetterDeduplicationId = (occurrenceId: string, fencingToken: number): string => "dead:" + occurrenceId ||',
  },
  {
    name: "a permanent failure is not told to the dead-letter queue",
    file: "lib/core/announcement.ts",
    find: '(row.status === "FAILED" || row.status === "DEAD_LETTERED") && row.deadLetteredAt !== undefined',
    replace: 'row.status === "DEAD_LETTERED" && row.deadLetteredAt !== undefined',
  },
  {
    name: "the job's wish for a delay is ignored",
    file: "lib/core/retry.ts",
    find: "Math.max(delayMs, retryAfterSeconds * 1000)",
    replace: "delayMs",
  },
];
