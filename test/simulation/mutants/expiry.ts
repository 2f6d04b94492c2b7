import type { Mutant } from "./mutant.ts";

const ENDS = "lib/core/transition-ends.ts";

/** Bugs planted into what the table's TTL may remove, and into what is made of instants that history no longer knows. */
export const EXPIRY_MUTANTS: readonly Mutant[] = [
  {
    name: "an expiry in milliseconds",
    shownBy: { world: "runs that wait" },
    file: ENDS,
    find: "Math.floor(later(now, row.scheduledFor) / 1000) + settings.historySeconds;",
    replace: "later(now, row.scheduledFor) + settings.historySeconds * 1000;",
  },
  {
    name: "history counted from a cancel that came before the instant",
    shownBy: {
      world: "a firing that is cancelled long before its instant, whose schedule is edited and swept in between",
    },
    file: ENDS,
    find: "Math.floor(later(now, row.scheduledFor) / 1000) + settings.historySeconds;",
    replace: "Math.floor(now / 1000) + settings.historySeconds;",
  },
  {
    name: "a revived run keeps the day on which it was to be removed",
    shownBy: { seed: 8 },
    file: ENDS,
    find: '    "endedAt",\n    "expiresAtSeconds",',
    replace: '    "endedAt",',
  },
  {
    name: "an open dead letter that expires",
    shownBy: { world: "a job that kills its process for good" },
    file: ENDS,
    find: "    deadLetterReason: reason,",
    replace: "    deadLetterReason: reason,\n    expiresAtSeconds: Math.floor(now / 1000) + 86_400,",
  },
  {
    name: "a one-shot that is owed for ever",
    shownBy: { world: "a one-shot whose row is removed, and which is swept before and after" },
    file: "lib/app/engine/reconcile.ts",
    find: "plusMs(now, -windowMs - 1)",
    replace: "plusMs(now, -100 * windowMs - 1)",
  },
  {
    name: "a message that meets no row brings one",
    shownBy: { world: "a message that is received when the row of its cancelled run is gone" },
    file: "lib/app/engine/run-occurrence.ts",
    find: '  engine.metrics.count("StaleMessages");',
    replace:
      '  const [meant] = await engine.occurrences.read([key]);\n  if (meant?.kind === "missing") await engine.occurrences.insert([{ ...message, ...key, status: "PENDING", log: [], scheduledFor: at, dueAt: at, firstDueAt: at, createdAt: at, shard: 0, attempts: 0, overlap: "allow", startDeadlineSeconds: 60, retry: { maxAttempts: 1 }, payload: "{}" }]);\n  engine.metrics.count("StaleMessages");',
  },
];
