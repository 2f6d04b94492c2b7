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
        find: "const until = wasAtWork(holder) ? leaseOf(holder, now) : now;",
        replace: "const until = now;",
      },
    ],
  },
  {
    name: "a turn that is given up though the cancelled job pays no heed",
    shownBy: { world: "runs that are replaced and pay no heed" },
    file: "lib/app/engine/run-occurrence.ts",
    find: "if (!abandoned) await standDown(",
    replace: "await standDown(",
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
    name: "coalesce decided without recording it first",
    shownBy: { world: "runs that wait" },
    file: VISIT,
    find: 'return { kind: "decide", misfire: decideMisfire(schedule.timing, row, policy, now, upTo) };',
    replace:
      "return { ...followMisfire(row, decideMisfire(schedule.timing, row, policy, now, upTo), schedule, anchor), ...refresh };",
  },
];
