import type { Mutant } from "./mutant.ts";

const VISIT = "lib/core/visit.ts";

/** Bugs planted into how runs of one schedule take turns and how missed firings are dealt with. */
export const POLICY_MUTANTS: readonly Mutant[] = [
  {
    name: "a gate that opens before a cancelled run's lease has ended",
    shownBy: { world: "runs that replace" },
    file: "lib/core/overlap.ts",
    find: "|| leaseOf(holder, now) <= now);",
    replace: "|| leaseOf(holder, now) > 0);",
    also: [
      {
        file: "lib/core/overlap.ts",
        find: "const until = mayBeAtWork(holder) ? leaseOf(holder, now) : now;",
        replace: "const until = now;",
      },
    ],
  },
  {
    name: "a turn that is given up though the cancelled job pays no heed",
    shownBy: { world: "runs that are replaced and pay no heed" },
    file: "lib/app/engine/run-occurrence.ts",
    find: "!abandoned && keeper.runsOn() && (await standDown(",
    replace: "(await standDown(",
  },
  {
    name: "the gate taken over without its counter",
    shownBy: { world: "a dead run that is replayed while the next one takes its turn" },
    file: "lib/adapters/memory/occurrences.ts",
    find: "if (standing?.holder !== asRead?.holder || standing?.turns !== asRead?.turns)",
    replace: "if (standing?.holder !== asRead?.holder)",
  },
  {
    name: "a run that waits for nobody's end",
    shownBy: { world: "runs that wait" },
    file: "lib/core/overlap.ts",
    find: 'if (policy === "allow" || holder === undefined ||',
    replace: 'if (policy !== "skip" || holder === undefined ||',
  },
  {
    name: "a firing that does not wait for an older one",
    shownBy: { world: "firings in order, the younger of which is seen first" },
    file: "lib/core/overlap.ts",
    find: "if (!isHead(older) || older.dueAt === undefined || older.firstDueAt > now) return undefined;",
    replace: "return undefined;",
  },
  {
    name: "a firing that does not wait for what is caught up with",
    shownBy: { world: "firings in order, of which many were missed" },
    file: "lib/core/overlap.ts",
    find: "if (isCatchingUp(older)) return plusMs(now, TURN_WAIT_MS);",
    replace: "",
  },
  {
    name: "a catch-up that ends where somebody backfilled",
    shownBy: { world: "firings that were missed, of which somebody backfills some meanwhile" },
    file: "lib/app/engine/chain.ts",
    find: 'if (last?.kind === "exists" && !(await walkedOn(engine, walk))) missing.add(index);',
    replace: "",
  },
  {
    name: "coalesce decided without recording it first",
    shownBy: { world: "runs that wait" },
    file: VISIT,
    find: 'return { kind: "decide", misfire: decideMisfire(schedule.timing, row, policy, now, upTo) };',
    replace:
      "return { ...followMisfire(row, decideMisfire(schedule.timing, row, policy, now, upTo), schedule, anchor), ...refresh };",
  },
  {
    name: "an event of a schedule that its bus did not take is left at that",
    shownBy: { world: "a definition that is not valid, while the bus is away" },
    file: "lib/app/engine/announce-schedules.ts",
    find: "out[index] = false;",
    replace: "",
  },
  {
    name: "a person's pause told as the schedule's own",
    shownBy: { world: "a pause just before the instant, which ends soon after it" },
    file: "lib/core/announcement.ts",
    find: "pause?.by === PAUSED_BY_ITSELF && ",
    replace: "pause !== undefined && ",
  },
  {
    name: "the queue's lease is not written after a second send",
    shownBy: { world: "consumers that are away for hours, with a firing every minute" },
    file: "lib/app/engine/send-claimed.ts",
    find: 'return again ? { type: "queued", owner } : undefined;',
    replace: "return undefined;",
  },
];
