import type { Mutant } from "./mutant.ts";

const VISIT = "lib/core/visit.ts";
const PLAN = "lib/app/engine/plan-by-schedule.ts";
const RECONCILE = "lib/app/engine/reconcile.ts";

/** Bugs planted into how a schedule's firings follow one another. */
export const SCHEDULE_MUTANTS: readonly Mutant[] = [
  {
    name: "successor after claim",
    shownBy: { seed: 2 },
    file: PLAN,
    find: "const standing = await ensureHeads(engine, successors);",
    replace:
      "const standing = successors.map(() => true);\n  void engine.clock.sleepUntil(engine.clock.now()).then(() => ensureHeads(engine, successors).catch(() => []));",
  },
  {
    name: "successor computed from now",
    shownBy: { world: "a dispatcher that comes after the next instant, too soon for a misfire" },
    file: VISIT,
    find: "if (isSameTiming(schedule.version, row.scheduleVersion)) return row.scheduledFor;",
    replace: "if (isSameTiming(schedule.version, row.scheduleVersion)) return now;",
  },
  {
    name: "a replayed row taken for a head",
    shownBy: { seed: 5 },
    file: "lib/core/occurrence.ts",
    find: 'row.status === "PENDING" && row.kind === "scheduled" && row.fencingToken === 0;',
    replace: 'row.status === "PENDING" && row.kind === "scheduled";',
  },
  {
    name: "a backfilled row taken for a head",
    shownBy: { seed: 7 },
    file: "lib/core/occurrence.ts",
    find: 'row.status === "PENDING" && row.kind === "scheduled" && row.fencingToken === 0;',
    replace: 'row.status === "PENDING" && row.fencingToken === 0;',
  },
  {
    name: "a chain that stops where a row stands",
    shownBy: { world: "a chain that comes to an instant that is taken" },
    file: "lib/app/engine/chain.ts",
    find: "(await walkedOn(engine, alongChain(engine, want)));",
    replace: "true;",
  },
  {
    name: "reconcile removes a head on an old reading",
    shownBy: { world: "a sweep that read a pause, sees the heads after the resume, and dies at once" },
    file: RECONCILE,
    find: "if ((await engine.occurrences.removeHead(head, reading.row)) === ",
    replace:
      "if ((await engine.occurrences.removeHead(head, (await engine.schedules.read([scheduleId])).map((one) => one.row)[0])) === ",
  },
  {
    name: "reconcile removes a due head",
    shownBy: { world: "an edit that is reconciled just after the instant, by a clock that is a little behind" },
    file: RECONCILE,
    find: "(head) => isBeforeItsInstant(head, now) && !fires(head)",
    replace: "(head) => !fires(head)",
  },
  {
    name: "reconcile removes a head that has just fallen due",
    shownBy: { world: "an edit that is reconciled just after the instant, by a clock that is a little behind" },
    file: "lib/app/engine/heads.ts",
    find: "head.firstDueAt > plusMs(now, LEASES.leaseMarginMs);",
    replace: "head.firstDueAt > now;",
  },
  {
    name: "a schedule read long before the claim",
    shownBy: { seed: 2 },
    file: PLAN,
    find: "const verdicts = await engine.schedules.read(scheduleIds);",
    replace:
      "const kept = (engine.clock.kept ??= new Map());\n  const name = String(scheduleIds);\n  if (!kept.has(name)) kept.set(name, engine.schedules.read(scheduleIds));\n  const verdicts = await kept.get(name);",
  },
  {
    name: "an edited head runs by its old definition",
    shownBy: {
      world: "rows that are removed as soon as they may be, while their schedule is swept, edited and paused",
    },
    file: VISIT,
    find: "const refresh = edited ? { refresh: schedule.snapshot } : {};",
    replace: "const refresh = {};",
  },
  {
    name: "a paused schedule fires",
    shownBy: { world: "a pause just before the instant, which ends soon after it" },
    file: VISIT,
    find: 'if (schedule.paused) return { kind: "skip", reason: "paused", ...goOn(now) };',
    replace: "",
  },
  {
    name: "a paused head leaves no successor",
    shownBy: { world: "a pause around the instant, by hand, which is over before it is heard of" },
    file: VISIT,
    find: 'if (schedule.paused) return { kind: "skip", reason: "paused", ...goOn(now) };',
    replace: 'if (schedule.paused) return { kind: "skip", reason: "paused" };',
    // Else the change of the row calls for a reconcile, which finds no head and brings one.
    also: [
      {
        file: "test/support/settling.ts",
        find: '(status === "SKIPPED" && (skipReason === "paused" || skipReason === "disabled"));',
        replace: "false;",
      },
      {
        file: "test/support/settling.ts",
        find: "(settles === true && (",
        replace: '(settles === true && status !== "SKIPPED" && (',
      },
    ],
  },
  {
    name: "an edited head fires though its definition does not",
    shownBy: { world: "other firing times just before the instant" },
    file: VISIT,
    find: "if (edited && firesAt(schedule.timing, row.scheduledFor) === undefined)",
    replace: "if (edited && schedule.paused)",
  },
  {
    name: "an edited schedule counting from the reconcile's now",
    shownBy: { world: "a run that succeeds", faults: [{ index: 5, fault: { kind: "paused-after", ms: 65000 } }] },
    file: RECONCILE,
    find: "const counted = fresh ? (writtenAt ?? now) : status.since;",
    replace: "const counted = fresh ? now : status.since;",
  },
  {
    name: "delete cancels the head instead of removing it",
    shownBy: { world: "a schedule that is deleted and put again: it finds its instants free" },
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
    shownBy: { seed: 48 },
    file: VISIT,
    find: "const afterwards = successorAfter(schedule, later(misfire.to, anchor));",
    replace: "const afterwards = successorAfter(schedule, later(plusMs(misfire.to, 1_200_000), anchor));",
  },
];
