import { describe, expect, it } from "vitest";
import { checkDefinitions } from "../../../lib/app/manage/check.ts";
import { limitsFor } from "../../../lib/app/manage/manager.ts";
import { runNow } from "../../../lib/app/manage/run-now.ts";
import { createWorld } from "../../client/world.ts";

const HISTORY = { historySeconds: 30 * 86_400 };

describe("where a deployment's settings are not known", () => {
  it("any queue passes, and the deployment's own reconciler judges", () => {
    const [checked] = checkDefinitions(
      [{ scheduleId: "a", rate: "1 day", queue: "reports", timeoutSeconds: 86_400 }],
      HISTORY,
    );
    expect(checked).toMatchObject({ kind: "valid", schedule: { snapshot: { queue: "reports" } } });
    expect(limitsFor(HISTORY, { queue: 7 }).queues).toHaveProperty("default");
  });

  it("a manual run lies on a shard that was in use before", async () => {
    const { manager, store } = createWorld();
    await store.schedules.put({ scheduleId: "a", rate: "1 day" }, "any");
    await store.occurrences.shardHighWater(3);
    for (const key of ["k1", "k2", "k3", "k4", "k5", "k6", "k7", "k8"])
      await runNow({ ...manager, settings: HISTORY }, "a", { key });
    const shards = new Set(store.allOccurrences().map(({ shard }) => shard));
    expect([...shards].every((shard) => shard < 3)).toBe(true);
    expect(shards.size).toBeGreaterThan(1);
  });

  it("a manual run of a store that nobody used yet lies on the first shard", async () => {
    const { manager, store } = createWorld();
    await store.schedules.put({ scheduleId: "a", rate: "1 day" }, "any");
    await runNow({ ...manager, settings: HISTORY }, "a", { key: "k" });
    expect(store.allOccurrences()).toMatchObject([{ shard: 0 }]);
  });
});
