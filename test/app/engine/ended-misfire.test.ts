import { expect, test } from "vitest";
import { reconcile } from "../../../lib/app/engine/reconcile.ts";
import { plusMs, toIso } from "../../../lib/core/instant.ts";
import { NOON } from "../../support/occurrences.ts";
import { newWorld, visitDue } from "../../support/world.ts";

test("firings that were passed over together at the end of a schedule are not brought back one by one", async () => {
  const world = newWorld();
  const endAt = toIso(plusMs(NOON, 5 * 60_000));
  world.put({ scheduleId: "ended", rate: "1 minute", endAt, misfire: { policy: "skip" } });
  await world.time.finish(reconcile(world.engine, "ended"));
  world.time.leap(60 * 60_000);
  for (let visits = 0; visits < 3; visits += 1) await visitDue(world);
  await world.time.finish(reconcile(world.engine, "ended"));
  expect(world.history("ended")).toEqual([`${toIso(plusMs(NOON, 60_000))} SKIPPED`]);
});
