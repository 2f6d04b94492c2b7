import type { Mutant } from "./mutant.ts";

const VISIT = "lib/core/visit.ts";
const PLAN = "lib/app/engine/plan-by-schedule.ts";
const RECONCILE = "lib/app/engine/reconcile.ts";

/** Bugs planted into how a schedule's firings follow one another. */
export const SCHEDULE_MUTANTS: readonly Mutant[] = [
  {
    name: "successor after claim",
    file: PLAN,
    find: "const standing = await ensureHeads(engine, successors);",
    replace:
      "const standing = successors.map(() => true);\n  void engine.clock.sleepUntil(engine.clock.now()).then(() => ensureHeads(engine, successors).catch(() => []));",
  },
  {
    name: "successor computed from now",
    file: VISIT,
    find: "if (isSameTiming(schedule.version, row.scheduleVersion)) return row.scheduledFor;",
    replace: "if (isSameTiming(schedule.version, row.scheduleVersion)) return now;",
  },
  {
    name: "a replayed row taken for a head",
    file: "lib/core/occurrence.ts",
    find: 'row.status === "PENDING" && row.kind === "scheduled" && row.fencingToken === 0;',
    replace: 'row.status === "PENDING" && row.kind === "scheduled";',
  },
  {
    name: "reconcile removes a due head",
    file: RECONCILE,
    find: "(head) => isBeforeItsInstant(head, now) && !fires(head)",
    replace: "(head) => !fires(head)",
  },
  {
    name: "a schedule read long before the claim",
    file: PLAN,
    find: "const verdicts = await engine.schedules.read(scheduleIds);",
    replace:
      "const kept = (engine.settings.kept ??= new Map());\n  const name = String(scheduleIds);\n  if (!kept.has(name)) kept.set(name, engine.schedules.read(scheduleIds));\n  const verdicts = await kept.get(name);",
  },
  {
    name: "an edited head runs by its old definition",
    file: VISIT,
    find: "const refresh = edited ? { refresh: schedule.snapshot } : {};",
    replace: "const refresh = {};",
  },
  {
    name: "a paused schedule fires",
    file: VISIT,
    find: 'if (schedule.paused) return { kind: "skip", reason: "paused", ...goOn(now) };',
    replace: "",
  },
  {
    name: "an edited head fires though its definition does not",
    file: VISIT,
    find: "if (edited && firesAt(schedule.timing, row.scheduledFor) === undefined)",
    replace: "if (edited && schedule.paused)",
  },
  {
    name: "an edited schedule counting from the reconcile's now",
    file: RECONCILE,
    find: "const counted = fresh ? (writtenAt ?? now) : status.since;",
    replace: "const counted = fresh ? now : status.since;",
  },
  {
    name: "delete cancels the head instead of removing it",
    file: "lib/app/engine/remove-deleted.ts",
    find: "const future = heads.rows.filter((head) => isBeforeItsInstant(head, now));",
    replace: "const future: typeof heads.rows = [];",
    also: [
      {
        file: "lib/app/engine/remove-deleted.ts",
        find: 'if (next.kind === "refused" || isHead(row)) return [];',
        replace: 'if (next.kind === "refused") return [];',
      },
    ],
  },
  {
    name: "a misfire's chain goes on far behind its range",
    file: VISIT,
    find: "const afterwards = successorAfter(schedule, later(misfire.to, anchor));",
    replace: "const afterwards = successorAfter(schedule, later(plusMs(misfire.to, 1_200_000), anchor));",
  },
];
