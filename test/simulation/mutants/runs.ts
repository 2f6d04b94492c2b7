import type { Mutant } from "./mutant.ts";

const TRANSITION = "lib/core/transition.ts";
const ENDS = "lib/core/transition-ends.ts";
const RUN = "lib/app/engine/run-occurrence.ts";
const BATCH = "lib/app/engine/run-batch.ts";
const DELIVERY = "lib/app/engine/run-delivery.ts";

/** Bugs planted into how attempts start, keep their lease, report, retry and become known. */
export const RUN_MUTANTS: readonly Mutant[] = [
  {
    name: "acknowledging before completing",
    shownBy: { world: "a job that kills its process" },
    file: BATCH,
    find: "const result = await runDelivery(runner, opened);",
    replace:
      'const result = await Promise.race([runDelivery(runner, opened), runner.host.sleep(300).then(() => ({ kind: "not-mine" }) as const)]);',
  },
  {
    name: "start without token",
    shownBy: { world: "a worker whose places are all held by jobs that pay no heed" },
    file: TRANSITION,
    find: 'return write([statusIs("DISPATCHED"), tokenIs(event.token)], {',
    replace: 'return write([statusIs("DISPATCHED")], {',
  },
  {
    name: "start without status",
    shownBy: { world: "a worker whose next message waits behind a slow job" },
    file: TRANSITION,
    find: 'return write([statusIs("DISPATCHED"), tokenIs(event.token)], {',
    replace: "return write([tokenIs(event.token)], {",
  },
  {
    name: "a report guarded by the token alone",
    shownBy: { seed: 2 },
    file: TRANSITION,
    find: '  statusIs("RUNNING"),\n  tokenIs(event.token),\n  ownerIs(event.owner),',
    replace: "  tokenIs(event.token),",
  },
  {
    name: "a job run after its start was settled too late",
    shownBy: { world: "a start that is answered when its lease is over" },
    file: RUN,
    find: "if (!keeper.holds()) {",
    replace: "if (keeper.lost.aborted) {",
  },
  {
    name: "the first lease measured from the start's answer",
    shownBy: { world: "a start that is answered after 20 s, and nothing after it" },
    file: RUN,
    find: "new LeaseKeeper(runner.engine, runner.host, row, owner, sentAt)",
    replace: "new LeaseKeeper(runner.engine, runner.host, row, owner, momentOf(runner.host))",
  },
  {
    name: "a later lease measured from its renewal's answer",
    shownBy: { world: "a renewal that is answered after 15 s, and nothing after it" },
    file: "lib/app/engine/lease-keeper.ts",
    find: "if (renewed) this.#renewedAt = sentAt;",
    replace: "if (renewed) this.#renewedAt = momentOf(this.#host);",
  },
  {
    name: "a late renewal shortens the lease",
    shownBy: { world: "a renewal that arrives after later ones, and none after it" },
    file: TRANSITION,
    find: "return write([...reportedBy(event), leaseUntilAtMost(until)], {",
    replace: "return write([...reportedBy(event)], {",
  },
  {
    name: "the lease is never renewed",
    shownBy: { world: "runs that wait" },
    file: "lib/app/engine/lease-keeper.ts",
    find: "let waitMs: number = LEASES.renewEveryMs;",
    replace: "let waitMs: number = 10 * LEASES.renewEveryMs;",
  },
  {
    name: "this host's clock instead of the store's",
    shownBy: { seed: 1 },
    file: "lib/adapters/dynamodb/store-clock.ts",
    find: "    return current.at;",
    replace: "    return instant(Math.floor(host.wallMs()));",
  },
  {
    name: "an unmarked redelivery taken for a replay",
    shownBy: { seed: 10 },
    file: DELIVERY,
    find: "return runOccurrence(runner, opened.message);",
    replace:
      'return runOccurrence(runner, opened.message).then((result) => result.kind === "not-mine" ? replayRedriven(runner, opened.message) : result);',
  },
  {
    name: "a crash leaves no suspect",
    shownBy: { world: "a job that kills its process" },
    file: TRANSITION,
    find: "...(crashed && { suspect: true }),",
    replace: "",
  },
  {
    name: "a death that leaves no suspect to its replay",
    shownBy: { world: "a job that kills its process, replayed beside the neighbour that it took along" },
    file: ENDS,
    find: '...(reason === "worker-lost" && { suspect: true }),',
    replace: "",
  },
  {
    name: "suspects run beside their neighbours",
    shownBy: { world: "a job that kills its process" },
    file: BATCH,
    find: "const trusted = opened.filter((each) => !isSuspect(each));",
    replace: "const trusted = opened;",
  },
  {
    name: "backoff counts one attempt too many",
    shownBy: { seed: 5 },
    file: "lib/core/retry.ts",
    find: "policy.multiplier ** (attempt - 1)",
    replace: "policy.multiplier ** attempt",
  },
  {
    name: "a finished row still falls due",
    shownBy: { world: "a job that kills its process" },
    file: ENDS,
    find: '  set: { status, endedAt: now, expiresAtSeconds: expiry(row, now, settings), ...extra },\n  remove: ["dueAt", "suspect"],',
    replace:
      '  set: { status, endedAt: now, expiresAtSeconds: expiry(row, now, settings), ...extra },\n  remove: ["suspect"],',
  },
  {
    name: "announcement identity without the token",
    shownBy: { world: "a dead run that is replayed while the next one takes its turn" },
    file: "lib/core/ids.ts",
    find: "export const deadLetterDeduplicationId = (occurrenceId: string, fencingToken: number): string =>",
    replace:
      'export const deadLetterDeduplicationId = (occurrenceId: string, fencingToken: number): string => "dead:" + occurrenceId ||',
  },
  {
    name: "a permanent failure is not told to the dead-letter queue",
    shownBy: { world: "a dead run that is replayed while the next one takes its turn" },
    file: "lib/core/announcement.ts",
    find: "isDead(row.status) && row.deadLetteredAt !== undefined",
    replace: 'row.status === "DEAD_LETTERED" && row.deadLetteredAt !== undefined',
  },
  {
    name: "the job's wish for a delay is ignored",
    shownBy: { world: "a job that says when to try again" },
    file: "lib/core/retry.ts",
    find: "Math.max(delayMs, retryAfterSeconds * 1000)",
    replace: "delayMs",
  },
];
