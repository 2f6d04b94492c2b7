import { THIS_RELEASE } from "../platform/release.ts";
import type { Role } from "../world/process.ts";
import { DUE_AT, type SmallScenario } from "./small.ts";

const LOST = { kind: "request-lost" } as const;
const UPGRADED_AT = DUE_AT - 30_000;
const ROLES = ["dispatcher", "consumer", "reconciler", "notifier"] as const;

/** The other release comes to these functions before the first instant, and nothing comes after it. */
const upTo =
  (...roles: readonly Role[]): NonNullable<SmallScenario["happens"]> =>
  ({ kernel, other }, platform) => {
    if (other) kernel.at(UPGRADED_AT, () => roles.forEach((role) => void platform.upgradeOnly(role, other)));
  };

/** The other release comes to all functions before the first instant, and is rolled back at `backAt`; a sweep comes after each. */
const thereAndBack =
  (backAt: number): NonNullable<SmallScenario["happens"]> =>
  ({ kernel, other }, platform) => {
    if (!other) return;
    for (const [release, at] of [
      [other, UPGRADED_AT],
      [THIS_RELEASE, backAt],
    ] as const)
      for (const [index, role] of ROLES.entries())
        kernel.at(at + 1_000 * index, () => platform.upgradeOnly(role, release));
    for (const at of [backAt - 5_000, backAt + 35_000, backAt + 95_000]) kernel.at(at, () => platform.sweep());
  };

/** A job that renews its lease, fails once and then takes its process along once. */
const EVENTFUL = { behaviour: { ms: 25_000, failsUntil: 1, killsUntil: 1 }, neighbour: { ms: 45_000 } };

const CLAIMED_BY_THE_NEW: SmallScenario = {
  name: "claims by another release, and starts and reports by this one",
  ...EVENTFUL,
  happens: upTo("dispatcher", "reconciler"),
};

const STARTED_BY_THE_NEW: SmallScenario = {
  name: "claims by this release, and starts and reports by another",
  ...EVENTFUL,
  happens: upTo("consumer", "notifier"),
};

/** The store answers no dispatcher just before the rollback and for some time after it: heads of one release come late to the other. */
const behindFor =
  (backAt: number, ms: number): NonNullable<SmallScenario["troubles"]> =>
  () =>
  ({ role, at }) =>
    role === "dispatcher" && at > backAt - 5_000 && at < backAt + ms ? LOST : undefined;

const BACK_AFTER_MS = 100_000;
const BACK_AT = DUE_AT + BACK_AFTER_MS;
/** So long a world lasts that its last sweep is in it, and what that brings. */
const LASTS_MS = BACK_AFTER_MS + 160_000;

const LATE: SmallScenario = {
  name: "another release and back, each time with heads that come up after their next instant",
  behaviour: { ms: 500 },
  definition: { rate: "20 seconds", lane: "fast" },
  silentMs: 30_000,
  lastsMs: LASTS_MS,
  happens: thereAndBack(BACK_AT),
  troubles: behindFor(BACK_AT, 50_000),
};

const MISSED: readonly SmallScenario[] = (["coalesce", "all", "skip"] as const).map((policy) => ({
  name: `another release and back, each time with firings that were missed, under ${policy}`,
  behaviour: { ms: 500 },
  definition: { rate: "20 seconds", misfire: { policy, graceSeconds: 0 } },
  silentMs: 90_000,
  lastsMs: LASTS_MS + 60_000,
  happens: thereAndBack(BACK_AT + 60_000),
  troubles: behindFor(BACK_AT + 60_000, 90_000),
}));

const TURNS: readonly SmallScenario[] = (["wait", "replace", "skip"] as const).map((overlap) => ({
  name: `another release and back, with runs that ${overlap}`,
  behaviour: { ms: 45_000 },
  definition: { rate: "20 seconds", overlap },
  lastsMs: LASTS_MS,
  happens: thereAndBack(BACK_AT),
}));

/** Small worlds in which two releases work side by side. */
export const RELEASES_DIRECTED: readonly SmallScenario[] = [
  CLAIMED_BY_THE_NEW,
  STARTED_BY_THE_NEW,
  LATE,
  ...MISSED,
  ...TURNS,
];
