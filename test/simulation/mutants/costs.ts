import type { Mutant } from "./mutant.ts";

const SETTLE = "lib/app/engine/settle.ts";
const PLAN = "lib/app/engine/plan-by-schedule.ts";
const VISITS = "lib/app/engine/visit-rows.ts";

/** Bugs that cost more than they should, and nothing else. */
export const COST_MUTANTS: readonly Mutant[] = [
  {
    name: "a lost race counts as work, so that the same row is looked at again at once",
    shownBy: { world: "a run that waits for another's end, in an index that is late" },
    file: "lib/app/engine/dispatch.ts",
    find: "moved += (await visitRows(engine, due)).moved;",
    replace: "await visitRows(engine, due);\n      moved += due.length;",
  },
  {
    name: "a write that was in doubt is repeated though it was taken",
    shownBy: { world: "a run that succeeds", faults: [{ index: 33, fault: { kind: "late-effect", ms: 9000 } }] },
    file: SETTLE,
    find: 'if (verdict?.kind === "applied") return verdict;',
    replace: 'if (verdict?.kind === "applied" && !doubtful) return verdict;',
  },
  {
    name: "a report that was refused is tried again and again",
    shownBy: { world: "runs that are replaced and pay no heed" },
    file: SETTLE,
    find: 'const known = verdict?.kind !== "refused" ? undefined : doubtful ? await readBack(engine, write) : verdict;',
    replace:
      'const known = verdict?.kind !== "refused" || !doubtful ? undefined : await readBack(engine, write);\n    doubtful ||= verdict?.kind === "refused";',
  },
  {
    name: "every accepted send is noted on its row",
    shownBy: { world: "a job that kills its process" },
    file: "lib/app/engine/send-claimed.ts",
    find: 'return again ? { type: "queued", owner } : undefined;',
    replace: 'return { type: "queued", owner };',
  },
  {
    name: "the schedule is read twice for each claim",
    shownBy: { world: "a job that kills its process" },
    file: PLAN,
    find: "const verdicts = await engine.schedules.read(scheduleIds);",
    replace: "await engine.schedules.read(scheduleIds);\n  const verdicts = await engine.schedules.read(scheduleIds);",
  },
  {
    name: "a request for each row in place of one for the batch",
    shownBy: { world: "a job that kills its process" },
    file: VISITS,
    find: "const verdicts = await writeSettled(\n    engine,\n    prepared.map(({ write }) => write),\n  );",
    replace: "const verdicts = (await Promise.all(prepared.map(({ write }) => writeSettled(engine, [write])))).flat();",
  },
];
