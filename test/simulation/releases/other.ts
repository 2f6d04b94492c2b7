import type { Patch } from "../patch.ts";

/**
 * What makes another release of this one: changes such as a next release may bring. Its leases are no longer than this one's
 * where an invariant measures by these.
 */
export const OTHER_RELEASE: readonly Patch[] = [
  // Every version differs: another way to hash, with the mark that says so, over one attribute more.
  {
    file: "lib/core/schedule-version.ts",
    find: "export const definitionVersion = (item: Readonly<Record<string, unknown>>): string =>\n",
    replace: 'export const definitionVersion = (item) =>\n  "2:" + ',
  },
  {
    file: "lib/core/schedule-version.ts",
    find: "contentHash(Object.fromEntries(attributes.map((key) => [key, item[key]])));",
    replace: "contentHash(attributes.map((key) => [key, item[key]]));",
  },
  {
    file: "lib/core/schedule-definition.ts",
    find: '    managedBy: z.optional(text("must be text")),',
    replace: '    managedBy: z.optional(text("must be text")),\n    lane: z.optional(text("must be text")),',
  },
  // Other lengths, which fit together as `timing.ts` says.
  { file: "lib/core/lease.ts", find: "claimLeaseMs: 60_000,", replace: "claimLeaseMs: 40_000," },
  { file: "lib/core/lease.ts", find: "queueLeaseMs: 3_600_000,", replace: "queueLeaseMs: 3_000_000," },
  { file: "lib/core/lease.ts", find: "runLeaseMs: 30_000,", replace: "runLeaseMs: 40_000," },
  { file: "lib/core/lease.ts", find: "renewEveryMs: 9_000,", replace: "renewEveryMs: 12_000," },
  { file: "lib/core/lease.ts", find: "releaseBaseMs: 1_000,", replace: "releaseBaseMs: 2_000," },
  { file: "lib/core/overlap.ts", find: "TURN_WAIT_MS = 60_000;", replace: "TURN_WAIT_MS = 45_000;" },
  { file: "lib/core/retry.ts", find: "ceilingMs * random :", replace: "(ceilingMs * (1 + random)) / 2 :" },
  // Other looks and pages.
  { file: "lib/app/engine/dispatch.ts", find: "POLL_MS = 1_000;", replace: "POLL_MS = 800;" },
  { file: "lib/app/engine/dispatch.ts", find: "TAKEOVER_AFTER_MS = 5_000;", replace: "TAKEOVER_AFTER_MS = 4_000;" },
  { file: "lib/app/engine/dispatch.ts", find: "PAGE_ROWS = 100;", replace: "PAGE_ROWS = 3;" },
  { file: "lib/app/engine/heads.ts", find: "RECENT_ROWS = 50;", replace: "RECENT_ROWS = 5;" },
  { file: "lib/app/engine/sweep.ts", find: "SCHEDULES_PAGE = 100;", replace: "SCHEDULES_PAGE = 2;" },
  { file: "lib/app/engine/sweep.ts", find: "HEADS_PAGE = 100;", replace: "HEADS_PAGE = 2;" },
  { file: "lib/app/engine/sweep.ts", find: "DEAD_LETTERS_PAGE = 100;", replace: "DEAD_LETTERS_PAGE = 1;" },
  { file: "lib/core/misfire.ts", find: "CATCH_UP_ROWS = 100;", replace: "CATCH_UP_ROWS = 4;" },
  // Attributes that this release does not know: on new rows, on claimed ones, on statuses and in messages.
  {
    file: "lib/core/new-occurrence.ts",
    find: "  log: [],\n  ...snapshot,",
    replace: "  log: [],\n  lane: { of: snapshot.job },\n  ...snapshot,",
  },
  {
    file: "lib/core/transition.ts",
    find: '      status: "DISPATCHED",\n      claimedAt: now,',
    replace: '      status: "DISPATCHED",\n      claimedBy: "other",\n      claimedAt: now,',
  },
  {
    file: "lib/app/engine/reconcile.ts",
    find: "    state,\n    version,\n    since,\n    ...(provisional",
    replace: '    state,\n    version,\n    since,\n    checkedBy: "other",\n    ...(provisional',
  },
  {
    file: "lib/core/message.ts",
    find: "    version: MESSAGE_VERSION,\n",
    replace: "    version: MESSAGE_VERSION,\n    trace: { of: row.occurrenceId },\n",
  },
];
