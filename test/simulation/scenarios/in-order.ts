import { backfill } from "../../../lib/app/manage/backfill.ts";
import { instant } from "../../../lib/core/instant.ts";
import { operate } from "./operators.ts";
import { DUE_AT, type SmallScenario } from "./small.ts";

/** Two firings are late, since a sweep has mended the chain meanwhile. The shard of the younger one is looked at first. */
const YOUNGER_SEEN_FIRST: SmallScenario = {
  name: "firings in order, the younger of which is seen first",
  behaviour: { ms: 2_000 },
  definition: { rate: "26 seconds", overlap: "wait" },
  shards: 2,
  silentMs: 62_000,
  happens: ({ kernel }, platform) => kernel.at(DUE_AT + 5_000, () => platform.sweep()),
};

/** Nobody tells of the first one's end: the next live firing finds its turn free before the second missed one looks again. */
const CAUGHT_UP_IN_ORDER: SmallScenario = {
  name: "firings in order, of which many were missed",
  behaviour: { ms: 2_000 },
  definition: { rate: "20 seconds", overlap: "wait", misfire: { policy: "all", graceSeconds: 0 } },
  silentMs: 180_000,
  troubles: () => {
    let first: string | undefined;
    return ({ process, role, name }) => {
      if (role !== "consumer" || name !== "history") return undefined;
      first ??= process;
      return process === first ? { kind: "request-lost" } : undefined;
    };
  },
};

/** The second and the third stand already when the dispatcher comes to catch up with all of them, one by one. */
const BACKFILLED_MEANWHILE: SmallScenario = {
  name: "firings that were missed, of which somebody backfills some meanwhile",
  behaviour: { ms: 500 },
  definition: { rate: "20 seconds", overlap: "wait", misfire: { policy: "all", graceSeconds: 0 } },
  silentMs: 180_000,
  lastsMs: 360_000,
  happens: (world) =>
    world.kernel.at(DUE_AT + 65_000, () => {
      const range = { from: instant(DUE_AT + 20_000), to: instant(DUE_AT + 60_000) };
      operate(world, { action: "backfill", name: "small", work: (manager) => backfill(manager, "small", range) });
    }),
};

/** Small worlds in which several firings of one schedule are late and wait for each other. */
export const IN_ORDER_DIRECTED: readonly SmallScenario[] = [
  YOUNGER_SEEN_FIRST,
  CAUGHT_UP_IN_ORDER,
  BACKFILLED_MEANWHILE,
];
